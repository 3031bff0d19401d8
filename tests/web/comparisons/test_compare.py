"""The pages that compare two sessions or replays."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from tests.builders import QUESTIONS, compared, recorded_session, replayed
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.alignment import long_diffs
from timemachine.replay.alignment.models import LongDiff
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.web.comparisons.presenters import runs


def session_of(project: Project, *drafts: ActionDraft, name: str = "a run") -> Session:
    session = start_session(project, name=name, by="test")
    append(session.id, list(drafts))
    return session


def call(tool: str, **arguments: object) -> ActionDraft:
    return ActionDraft(kind="tool_call", tool=tool, input=arguments)


def message(text: str) -> ActionDraft:
    return ActionDraft(kind="message", role="agent", output=text)


def page(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_the_page_says_first_where_two_runs_part(operator: Client, project: Project) -> None:
    one = session_of(project, call("read", path="x"), call("write", path="x"))
    other = session_of(project, call("read", path="x"), call("write", path="y"))
    shown = page(operator, f"/compare/?a={one.key}&b={other.key}")
    assert "They diverge at step 2: tool call write with different arguments: /path ." in words(shown)
    found = re.search(r'<a href="([^"]*)">Open both steps</a>', shown)
    assert found is not None
    assert "write" in words(page(operator, found[1].replace("&amp;", "&")))
    assert "No step was found where the agent acted differently." in words(
        page(operator, f"/compare/?a={one.key}&b={one.key}")
    )


def test_the_page_shows_a_step_that_only_one_run_has_in_the_list(operator: Client, project: Project) -> None:
    one = session_of(project, call("read", path="x"), call("write", path="x"))
    other = session_of(project, call("read", path="x"))
    shown = page(operator, f"/compare/?a={one.key}&b={other.key}")
    assert "They diverge at step 2 on the left: tool call write only on the left ." in words(shown)
    assert "Show it in the list" in shown


AUDIT = ReplayOptions(audit=True, use_model="local:extractive-3", reason="to see")


@pytest.fixture(scope="module")
def debugged_once(recorded_once: Session) -> Replay:
    """A replay that finds more than was recorded."""
    return replayed(recorded_once, ReplayOptions(audit=False, top_k=3))


@pytest.fixture(scope="module")
def audited_once(recorded_once: Session) -> Replay:
    """A replay with answers from another model."""
    return replayed(recorded_once, AUDIT)


@pytest.fixture(scope="module")
def checked_once(recorded_once: Session) -> Replay:
    """A replay that calls no model."""
    return replayed(recorded_once, ReplayOptions(audit=True, reason="to see"))


@pytest.fixture
def project(recorded_once: Session, db: None) -> Project:
    return recorded_once.project


@pytest.fixture
def both(project: Project) -> tuple[Session, Session]:
    shared = [call("read", path=f"{number}.py") for number in range(4)]
    left = session_of(project, *shared, message("The total is 12 euros and Anna paid it."), name="Montag ☾")
    right = session_of(
        project,
        shared[0],
        call("look", at="door"),
        *shared[1:],
        message("The total is 15 euros and Anna paid it."),
    )
    return left, right


def test_two_sessions_are_listed_pair_by_pair_with_their_totals(
    viewer: Client, both: tuple[Session, Session]
) -> None:
    left, right = both
    shown = words(page(viewer, f"/compare/?a={left.key}&b={right.key}"))
    assert "Montag ☾" in shown
    assert "Steps 5 6" in shown
    assert "All 6 Changed 2 Modified 1 Only right 1 Same 4" in shown
    assert "modified output" in shown
    assert "Cost not recorded not recorded" in shown
    assert "Tokens not recorded not recorded" in shown


def test_each_pair_links_to_both_steps_and_a_modified_pair_to_its_diff(
    viewer: Client, both: tuple[Session, Session]
) -> None:
    left, right = both
    shown = page(viewer, f"/compare/?a={left.key}&b={right.key}&show=modified")
    assert f'href="/sessions/{left.id}/?step=5"' in shown
    assert f'href="/sessions/{right.id}/?step=6"' in shown
    link = re.search(r'href="(/compare/steps/[^"]*)"', shown)
    assert link is not None
    diff = page(viewer, link.group(1).replace("&amp;", "&"))
    assert "<del" in diff
    assert "Numbers only on the left" in words(diff)
    assert '<del class="removed">12</del>' in diff


def test_the_filter_in_the_address_hides_other_pairs(viewer: Client, both: tuple[Session, Session]) -> None:
    left, right = both
    address = f"/compare/?a={left.key}&b={right.key}&show=changed"
    shown = page(viewer, address)
    assert "0.py" not in shown
    assert "door" in shown
    assert "No pair matches this filter" in words(page(viewer, address.replace("changed", "only_left")))


def test_the_two_ticked_sessions_are_compared(viewer: Client, both: tuple[Session, Session]) -> None:
    listed = page(viewer, "/")
    assert all(f'name="run" value="{session.id}" form="compare"' in listed for session in both)
    answer = viewer.get("/compare/", {"run": [str(session.id) for session in reversed(both)]})
    assert answer.status_code == 302
    assert parse_qs(urlsplit(answer["Location"]).query) == {"a": [str(both[0].id)], "b": [str(both[1].id)]}


def test_ticking_only_one_session_asks_for_two(viewer: Client, both: tuple[Session, Session]) -> None:
    one = page(viewer, f"/compare/?run={both[0].id}")
    assert "You selected 1 session. Select two" in words(one)
    assert f'value="{both[0].id}"' in one
    assert "You selected" not in page(viewer, "/compare/")


def test_who_may_run_replays_can_go_on_to_compare_models(
    viewer: Client, operator: Client, both: tuple[Session, Session]
) -> None:
    assert 'href="/comparisons/new/"' in page(operator, "/compare/")
    assert f'href="/comparisons/new/?session={both[0].id}"' in page(operator, f"/compare/?a={both[0].id}")
    assert "/comparisons/new/" not in page(viewer, f"/compare/?a={both[0].id}")


def test_the_other_session_is_searched_by_name_or_content(
    viewer: Client, project: Project, both: tuple[Session, Session]
) -> None:
    other = start_session(project, name="Nothing to do with it", by="test")
    one = f"/compare/?a={both[0].id}"
    assert all(f"b={each.id}" in page(viewer, one) for each in (both[1], other))
    found = page(viewer, f"{one}&q=nothing+to+do")
    assert f'href="?a={both[0].id}&amp;b={other.id}"' in found
    assert f"b={both[1].id}" not in found
    assert "No session matches." in words(page(viewer, f"{one}&q=zebra-crossing"))
    assert f'href="?a={other.id}"' in page(viewer, "/compare/?q=nothing+to+do")


def test_a_session_and_a_step_are_compared_with_their_replay_and_moved_frames(
    viewer: Client, debugged_once: Replay
) -> None:
    replay = debugged_once
    address = f"a={replay.session_id}&b={replay.id}"
    shown = page(viewer, f"/compare/?{address}")
    assert "Only finds, asks and model calls are compared" in shown
    assert f'href="/replays/{replay.id}/steps/1/"' in shown
    diff = page(viewer, f"/compare/steps/?{address}&left=1&right=1")
    assert "gained" in diff
    assert '<line class="same"' in diff
    assert "supports an answer" not in diff, "no passage of these lists is marked"
    assert words(diff).count("Duration") <= 1, "a fact stands once"
    step = page(viewer, f"/replays/{replay.id}/steps/1/")
    assert step.count('<line class="same') == 2


def test_a_step_that_the_replay_did_not_ask_is_not_compared(viewer: Client, checked_once: Replay) -> None:
    session, replay = checked_once.session, checked_once
    ask = session.actions.filter(kind="ask").values_list("sequence", flat=True)[0]
    diff = words(page(viewer, f"/compare/steps/?a={session.id}&b={replay.id}&left={ask}&right={ask}"))
    assert "The replay did not ask at this step" in diff
    assert "modified" not in diff.replace("Next modified", "")


def test_a_replay_without_hits_shows_no_recorded_frame_as_its_own(viewer: Client, project: Project) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    replay = replayed(session, ReplayOptions(audit=False, search_mode="lexical", min_score=10_000))
    diff = words(page(viewer, f"/compare/steps/?a={session.id}&b={replay.id}&left=1&right=1"))
    assert "modified frames" in diff
    assert "overlap 0.00" in diff
    assert "Frames same" not in diff


def test_a_replay_that_failed_before_finding_frames_says_so(
    viewer: Client, project: Project, recorded_once: Session
) -> None:
    collection = recorded_once.collection
    session = start_session(project, name="a run", by="test", collection=collection)
    hits = RetrievalDraft(hits=(HitDraft(rank=1, text="Invoices are kept for ten years."),))
    append(session.id, [ActionDraft(kind="find", input={"strange": 1}, retrieval=hits)])
    replay = replayed(session, ReplayOptions(audit=False))
    diff = words(page(viewer, f"/compare/steps/?a={session.id}&b={replay.id}&left=1&right=1"))
    assert "failed at this step before it found any frames" in diff
    assert "overlap" not in diff


def test_a_replayed_find_is_not_described_as_not_asked(
    viewer: Client, debugged_once: Replay, checked_once: Replay
) -> None:
    for replay in (debugged_once, checked_once):
        diff = page(viewer, f"/compare/steps/?a={replay.session_id}&b={replay.id}&left=1&right=1")
        assert "did not ask" not in diff


def test_an_answer_that_its_provider_marks_as_a_refusal_counts_as_refused(
    viewer: Client, project: Project
) -> None:
    def ask(answer: str, ended: str) -> ActionDraft:
        return ActionDraft(
            kind="ask", input="How?", output=answer, model="m", parameters={"finish_reason": ended}
        )

    one = session_of(project, ask("Ten years.", "stop"))
    other = session_of(project, ask("Let us talk about the weather.", "refusal"))
    address = f"/compare/steps/?a={one.key}&b={other.key}&left=1&right=1"
    assert "answers refused" in words(page(viewer, address))


def test_json_is_compared_by_its_structure(viewer: Client, project: Project) -> None:
    one = session_of(project, call("book", passengers=[{"id": 1, "name": "Anna"}], seat="12A", note="x"))
    other = session_of(
        project, call("book", passengers=[{"id": 2, "name": "Otto"}, {"id": 1, "name": "Anne"}], seat="12A")
    )
    diff = words(page(viewer, f"/compare/steps/?a={one.key}&b={other.key}&left=1&right=1"))
    assert "/note removed" in diff
    assert "/passengers/0 added" in diff
    assert "/passengers/1/name changed Anna Anne" in diff
    assert "/seat" not in diff


def test_a_change_deep_inside_a_json_text_is_marked_and_its_numbers_come_first(
    viewer: Client, project: Project
) -> None:
    prose = "The harbour was quiet that night and nobody saw the ship. " * 40
    one, other = (
        session_of(project, call("report", text=f"{prose}Bertha Krupp owes {owed} dollars. {prose}"))
        for owed in (412, 977)
    )
    diff = page(viewer, f"/compare/steps/?a={one.key}&b={other.key}&left=1&right=1")
    assert '<del class="removed">412</del>' in diff
    assert '<ins class="added">977</ins>' in diff
    assert "Numbers only on the left 412" in words(diff)
    assert diff.index("Numbers only on the left") < diff.index("/text")


def test_json_is_the_same_if_none_of_its_values_differ(viewer: Client, project: Project) -> None:
    cases = [
        ({"a": 1}, {"a": True}, "/a changed 1 true"),
        ({"a": [1, 2]}, {"a": [1, 2.0]}, "Same values, formatted differently."),
        ({"a": 1}, '{"a":1}', "Same values, formatted differently."),
        ("1", 1, "Same values, formatted differently."),
        ([True], [True], "Identical."),
    ]
    one, other = (
        session_of(project, *(ActionDraft(kind="tool_result", tool="read", output=value) for value in values))
        for values in ([left for left, _, _ in cases], [right for _, right, _ in cases])
    )
    for step, (_, _, expected) in enumerate(cases, start=1):
        address = f"/compare/steps/?a={one.key}&b={other.key}&left={step}&right={step}"
        assert expected in words(page(viewer, address)), step


def test_the_pairs_of_long_sessions_are_paged(
    viewer: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "PAGE", 6)
    left = session_of(project, *(call("read", path=f"{number}.py") for number in range(30)))
    right = session_of(project, *(call("read", path=f"{number}.py") for number in range(3, 30)))
    first = page(viewer, f"/compare/?a={left.key}&b={right.key}")
    assert "1 to 6 of 30" in first
    assert "9.py" not in first
    later = re.search(r'rel="next" href="([^"]*)"', first)
    assert later is not None
    second = page(viewer, f"/compare/{later.group(1).replace('&amp;', '&')}")
    assert "7 to 12 of 30" in second
    assert "25 to 30 of 30" in page(viewer, f"/compare/?a={left.key}&b={right.key}&at=99999")


def test_an_unknown_session_or_step_is_not_found(viewer: Client, both: tuple[Session, Session]) -> None:
    left, right = both
    for address in (
        f"/compare/?a={left.key}&b=nobody",
        f"/compare/steps/?a={left.key}&b={right.key}&left=99&right=1",
        "/compare/steps/",
    ):
        assert viewer.get(address).status_code == 404


def test_a_wrong_id_is_reported_at_its_field_and_the_form_is_kept(
    viewer: Client, both: tuple[Session, Session]
) -> None:
    shown = viewer.get(f"/compare/?a={both[0].key}&b=nobody").text
    assert f'value="{both[0].key}"' in shown
    assert 'value="nobody"' in shown
    assert 'id="b_error">There is no session or replay' in shown
    assert 'id="a_error"' not in shown
    assert "timemachine session list" not in shown


def test_two_empty_sessions_have_nothing_to_compare(viewer: Client, project: Project) -> None:
    one, other = (start_session(project, name="empty", by="test") for _ in range(2))
    assert "Nothing to compare" in page(viewer, f"/compare/?a={one.key}&b={other.key}")


def test_a_replayed_step_lists_the_numbers_that_differ(viewer: Client, audited_once: Replay) -> None:
    replay = audited_once
    steps = replay.steps.filter(kind="ask")
    shown = [words(page(viewer, f"/replays/{replay.id}/steps/{step.sequence}/")) for step in steps]
    assert any("Numbers only in the new answer" in text for text in shown)
    assert not any("Recorded at" in text for text in shown)
    assert not any("Only new" in text for text in shown)


def test_long_answers_of_a_replayed_step_are_compared_in_the_background(
    viewer: Client, audited_once: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_diffs, "LONG", 10)
    replay = audited_once
    ask = replay.steps.filter(kind="ask").exclude(verdict="identical").values_list("sequence", flat=True)[0]
    shown = page(viewer, f"/replays/{replay.id}/steps/{ask}/")
    link = re.search(r'Both answers are long\. <a href="([^"]*)"', shown)
    assert link is not None
    assert "Comparing long texts in the background" in page(viewer, link.group(1).replace("&amp;", "&"))


def test_long_answers_of_a_cell_are_compared_in_the_background(
    viewer: Client, project: Project, recorded_once: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_diffs, "LONG", 10)
    made = compared(project, [recorded_once], "local:extractive-1", "local:extractive-3")
    step = ReplayStep.objects.filter(replay__run__comparison=made, verdict="numbers_differ").get()
    shown = page(viewer, f"/comparisons/{made.id}/cells/{step.id}/")
    link = re.search(r'Both answers are long\. <a href="([^"]*)"', shown)
    assert link is not None
    address = link.group(1).replace("&amp;", "&")
    assert "Comparing long texts in the background" in page(viewer, address)
    long_diffs.make(LongDiff.objects.get().id)
    assert "Numbers only on the right" in words(page(viewer, address))
