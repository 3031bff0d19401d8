"""The pages of replays: launch, progress, and one step side by side."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import Settings

from tests.builders import QUESTIONS, recorded_session, replayed
from tests.web.people import browser_of
from timemachine.core.accounts.models import VIEWER, Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.runs.commands import cancel, launch
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.worker import work
from timemachine.web.replays.views import lists

AUDIT = ReplayOptions(audit=True, reason="Wie geprüft?", use_model="local:extractive-3")
FORM = {"kind": "ask", "model": "local:extractive-3", "reason": "Prüfung ☃"}


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def page(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_form_launches_a_replay_and_its_page_follows_the_progress(
    browser: Client, session: Session
) -> None:
    launched = browser.post(f"/sessions/{session.key}/replay/", FORM)
    replay = Replay.objects.get()
    assert (launched.status_code, launched["Location"]) == (302, f"/replays/{replay.id}/")
    assert "0 of 4 steps" in page(browser, f"/replays/{replay.id}/")
    address = f"/replays/{replay.id}/?rev={replay.revision}"
    assert browser.get(address, headers={"HX-Request": "true"}).status_code == 204
    work(replay.id, "test")
    news = browser.get(address, headers={"HX-Request": "true", "HX-Target": "div#progress"})
    assert (news.status_code, b"<html" in news.content) == (200, False)
    shown = page(browser, f"/replays/{replay.id}/")
    assert "3 asks replayed with local:extractive-3" in shown
    assert "context verified 4 of 4" in shown
    assert "Prüfung ☃" in shown
    assert "hx-trigger" not in shown


def test_the_form_counts_the_finds_that_a_replay_repeats(browser: Client, session: Session) -> None:
    form = page(browser, f"/sessions/{session.id}/replay/")
    assert "7 steps · 3 asks · 1 find" in form
    estimate = browser.post(
        f"/sessions/{session.id}/replay/",
        {"kind": "search", "estimate": "1"},
    )
    assert "3 asks, 1 find" in " ".join(estimate.text.split())


def test_a_form_sent_twice_launches_one_replay(browser: Client, session: Session) -> None:
    twice = FORM | {"form_id": str(uuid7())}
    first, second = (browser.post(f"/sessions/{session.id}/replay/", twice)["Location"] for _ in range(2))
    assert first == second
    assert Replay.objects.count() == 1


def test_a_form_sent_again_with_other_choices_is_refused_and_launches_under_a_new_id(
    browser: Client, session: Session
) -> None:
    address, form = f"/sessions/{session.id}/replay/", FORM | {"form_id": str(uuid7())}
    browser.post(address, form)
    for more in ({"model": "local:extractive-1"}, {"skip_finds": "on"}, {"reason": "Nochmal"}):
        refused = browser.post(address, form | more)
        assert refused.status_code == 409, more
        assert "already launched a different replay" in refused.text
    assert Replay.objects.count() == 1
    fresh = re.search(r'name="form_id" value="([^"]+)"', refused.text)
    assert fresh is not None
    assert browser.post(address, form | more | {"form_id": fresh[1]}).status_code == 302
    assert Replay.objects.count() == 2


def test_a_form_with_the_id_of_another_sessions_replay_is_refused(
    browser: Client, project: Project, other_project: Project, session: Session
) -> None:
    for other in (recorded_session(each, questions=QUESTIONS[:1]) for each in (project, other_project)):
        form_id = launch(other, AUDIT, by="somebody").id
        refused = browser.post(f"/sessions/{session.id}/replay/", FORM | {"form_id": str(form_id)})
        assert refused.status_code == 409
        assert "Send it again" in refused.text
    assert not session.replays.exists()


def test_a_step_shows_both_sides_with_their_evidence(browser: Client, session: Session) -> None:
    replay = replayed(session, AUDIT)
    shown = page(browser, f"/replays/{replay.id}/steps/4/")
    assert "<ins" in shown
    assert "numbers differ" in shown
    assert "unchanged" in shown
    assert "The new answer adds “" in shown


def test_the_list_says_which_facts_an_answer_adds_and_how_it_is_grounded(
    browser: Client, session: Session
) -> None:
    replay = replayed(session, AUDIT)
    facts = (
        'numbers differ</span> <bdi class="quiet">adds four hours</bdi> <span class="quiet">· grounding 1.00'
    )
    assert facts in page(browser, f"/replays/{replay.id}/")
    assert "LOW" not in page(browser, f"/replays/{replay.id}/")
    low = {"score": 0.2, "label": "LOW", "has_warning": True}
    replay.steps.filter(sequence=4).update(grounding=low)
    shown = page(browser, f"/replays/{replay.id}/")
    assert '<span class="quiet">· grounding 0.20</span> <span class="verdict low">LOW</span>' in shown
    assert "; LOW grounding in 1 answer" in shown


def test_a_debug_step_shows_two_ranked_lists(browser: Client, session: Session) -> None:
    replay = replayed(session, ReplayOptions(top_k=4))
    shown = page(browser, f"/replays/{replay.id}/steps/2/")
    assert "gained" in shown
    assert "Frames found now" in shown
    assert "as numbered in the recording" in shown
    assert "computed by the replay, not recorded" in shown
    assert "frame: a passage by its number in the collection" in shown


def test_an_externally_recorded_step_is_shown_as_well(browser: Client, project: Project) -> None:
    session = start_session(project, name="elsewhere", by="test")
    hits = (HitDraft(rank=1, text="Cats sleep.", metadata={"items": 3}),)
    ask = ActionDraft(
        kind="ask",
        input="sleep?",
        output="Cats <b>sleep</b>.",
        parameters={"items": 3, "call_ms": "12"},
        retrieval=RetrievalDraft(hits=hits),
    )
    append(session.id, [ask])
    replay = replayed(session, AUDIT)
    assert "Cats &lt;b&gt;" in page(browser, f"/replays/{replay.id}/steps/1/")


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (FORM | {"reason": ""}, "An audit needs a reason"),
        (FORM | {"model": "nobody:x"}, "no model provider"),
        (FORM | {"model": ""}, "Choose a model."),
        ({"kind": "search", "top_k": "0"}, "must be a whole number from 1"),
        ({"kind": "search", "skip_asks": "on", "skip_finds": "on"}, "there is nothing to replay"),
        ({"kind": "sideways"}, "valid choice"),
    ],
)
def test_an_invalid_form_shows_the_reason_and_keeps_its_input(
    browser: Client, session: Session, sent: dict[str, str], message: str
) -> None:
    answer = browser.post(f"/sessions/{session.id}/replay/", sent)
    assert answer.status_code in {422, 503}
    assert message in answer.content.decode()
    assert sent.get("reason", "") in answer.content.decode()
    assert not Replay.objects.exists()


def test_what_does_not_belong_to_the_choice_has_no_effect(browser: Client, session: Session) -> None:
    browser.post(f"/sessions/{session.id}/replay/", FORM | {"top_k": "0", "search_mode": "lexical"})
    asked = Replay.objects.latest("created_at").options
    browser.post(f"/sessions/{session.id}/replay/", FORM | {"kind": "verify", "temperature": "0.5"})
    verified = Replay.objects.latest("created_at").options
    assert (asked["audit"], asked["use_model"]) == (True, "local:extractive-3")
    assert not {"top_k", "search_mode"} & set(asked)
    assert not {"use_model", "temperature"} & set(verified)


def test_the_first_field_that_is_missing_gets_the_focus(browser: Client, session: Session) -> None:
    refused = browser.post(f"/sessions/{session.id}/replay/", {"kind": "ask"}).text
    assert refused.count("autofocus") == 1
    assert re.search('<input[^>]* name="model"[^>]* autofocus', refused)


def test_chosen_options_are_described_on_the_page(session: Session, browser: Client) -> None:
    replay = launch(session, ReplayOptions(skip_finds=True, adaptive=False, top_k=3), by="test")
    words = " ".join(browser.get(f"/replays/{replay.id}/").text.split())
    for pair in (
        "<dt>Finds</dt>",
        "<bdi>left out</bdi>",
        "<dt>Cut-off</dt>",
        "exactly top-k",
        "<dt>Top k</dt>",
    ):
        assert pair in words
    assert "True" not in words


def test_the_form_estimates_before_anything_is_launched(browser: Client, session: Session) -> None:
    answer = browser.post(f"/sessions/{session.id}/replay/", FORM | {"estimate": "1"})
    assert "Model calls 3 " in words_of(answer.text)
    assert not Replay.objects.exists()


ESTIMATES = [
    ({"kind": "verify"}, "Steps 3 asks, 1 find Model calls none Cost $0"),
    ({"kind": "ask"}, "Steps 3 asks, 1 find Cost unknown: choose a model"),
    (
        {"kind": "search"},
        "Tokens 427 in, 31 out Cost $0 With the recorded models, from the length of the prompts",
    ),
    ({"kind": "search", "model": "ollama:llama3.2"}, "Cost $0 With ollama:llama3.2 , from"),
    ({"kind": "ask", "model": "gpt-4o"}, "The range is for answers half to twice as long."),
    (
        {"kind": "search", "model": "openai:nobody-knows"},
        "Cost unknown Unknown for 3 calls: the price list does not include this model.",
    ),
    ({"kind": "ask", "model": "nobody:x"}, "There is no model provider"),
]


def words_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.mark.parametrize(("sent", "message"), ESTIMATES)
def test_the_estimate_beside_the_form_follows_what_is_chosen(
    browser: Client, session: Session, monkeypatch: pytest.MonkeyPatch, sent: dict[str, str], message: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    live = {"HX-Request": "true", "HX-Target": "estimate"}
    answer = browser.post(f"/sessions/{session.id}/replay/", sent, headers=live)
    assert answer.text.lstrip().startswith('<div id="estimate"')
    assert message in words_of(answer.text)
    assert not Replay.objects.exists()


def test_a_range_that_ends_before_it_begins_is_refused_at_its_field_before_the_launch(
    browser: Client, session: Session
) -> None:
    form, live = f"/sessions/{session.id}/replay/", {"HX-Request": "true", "HX-Target": "estimate"}
    at_field = r'<div class="error" id="id_through_sequence_error" hx-swap-oob="true">\s*(.*?)\s*</div>'
    backwards = {"kind": "verify", "from_sequence": "7", "through_sequence": "2"}
    shown = browser.post(form, backwards, headers=live).text
    assert re.findall(at_field, shown, re.DOTALL) == [
        "<p>There is no step from 7 through 2: the range ends before it begins.</p>"
    ]
    shown = browser.post(form, backwards | {"from_sequence": "2"}, headers=live).text
    assert re.findall(at_field, shown, re.DOTALL) == [""]
    assert 'id="id_through_sequence_error"' in page(browser, form)


def test_the_estimate_warns_before_an_audit_that_can_verify_nothing(
    browser: Client, project: Project, session: Session
) -> None:
    live, warning = {"HX-Request": "true", "HX-Target": "estimate"}, "Nothing here can be verified"

    def shown(of: Session, **sent: str) -> str:
        return browser.post(f"/sessions/{of.id}/replay/", {"kind": "verify"} | sent, headers=live).text

    assert warning not in shown(session)
    bare = start_session(project, name="Without passages", by="test")
    append(
        bare.id,
        [
            ActionDraft(kind="ask", input="Why?", output="Because."),
            ActionDraft(kind="llm_call", output="Yes."),
        ],
    )
    assert warning not in shown(bare)
    assert warning in shown(bare, through_sequence="1")
    assert warning in shown(bare, skip_calls="on")
    assert warning not in shown(bare, through_sequence="1", kind="ask")


def test_the_models_that_a_session_recorded_are_offered(browser: Client, project: Project) -> None:
    recorded = start_session(project, name="A small model", by="test")
    append(recorded.id, [ActionDraft(kind="llm_call", model="openai:gpt-4o-mini", output="Yes.")])
    assert '<option value="openai:gpt-4o-mini"' in page(browser, f"/sessions/{recorded.id}/replay/")


def test_replaying_again_starts_from_what_was_chosen(browser: Client, session: Session) -> None:
    chosen = {"from_sequence": "4", "temperature": "0.5", "skip_finds": "on", "spend_limit_usd": "2"}
    launched = page(browser, browser.post(f"/sessions/{session.id}/replay/", FORM | chosen)["Location"])
    again = re.search(rf'href="(/sessions/{session.id}/replay/[^"]*)">Replay<', launched)
    assert again is not None
    form = page(browser, again.group(1))
    assert re.search(r'value="ask" checked', form)
    assert 'value="local:extractive-3"' in form
    assert "Prüfung ☃</textarea>" in form
    for name, value in (("from_sequence", "4"), ("temperature", "0.5"), ("spend_limit_usd", "2")):
        assert re.search(rf'name="{name}" value="{value}(\.0)?"', form), name
    assert re.search(r'name="skip_finds"[^>]* checked', form)


def test_a_replay_is_cancelled_and_retried_from_its_page(browser: Client, session: Session) -> None:
    replay = launch(session, AUDIT, by="test")
    assert browser.post(f"/replays/{replay.id}/cancel/").status_code == 302
    replay.refresh_from_db()
    assert replay.status == "cancelled"
    assert browser.post(f"/replays/{replay.id}/cancel/").status_code == 409
    assert browser.post(f"/replays/{replay.id}/retry/").status_code == 302


def test_the_replays_of_a_session_are_listed_with_reason_answers_cost_and_status(
    browser: Client, session: Session
) -> None:
    replayed(session, AUDIT)
    cancel(launch(session, ReplayOptions(audit=True, reason="Doch nicht"), by="test"), by="test")
    listed = page(browser, f"/sessions/{session.id}/replay/")
    listed = " ".join(listed[listed.index("Replays of this session") :].split())
    first, second = listed.split("<tr>")[2:4]
    assert "Doch nicht" in first
    assert 'status cancelled"' in first
    assert str(AUDIT.reason) in second
    assert re.search(r'data-label="Result">1 identical, adds something in 1, numbers differ in 1<', second)
    assert re.search(r'data-label="Cost" class="number">[^/]*\$0', second)


def test_a_viewer_can_read_replays(project: Project, session: Session) -> None:
    viewer = browser_of(project, VIEWER)
    replay = replayed(session, AUDIT)
    assert "3 asks" in page(viewer, f"/replays/{replay.id}/")


def test_a_replay_with_an_invalid_id_is_not_found(project: Project) -> None:
    assert browser_of(project).get("/replays/nonsense/").status_code == 404


def test_a_debug_replay_is_launched_with_its_thresholds_and_shows_both_curves(
    browser: Client, session: Session
) -> None:
    form = {"kind": "search", "adaptive": "yes", "relative": "0.7", "cliff": "0.2", "min_score": "0.02"}
    form |= {"pool": "1"}
    model = session.collection.embedding_model if session.collection else ""
    sent = browser.post(f"/sessions/{session.id}/replay/", form | {"embedding_model": model})
    assert sent.status_code == 302
    replay = Replay.objects.get()
    chosen = {
        "adaptive": True,
        "pool": 1,
        "relative": 0.7,
        "cliff": 0.2,
        "min_score": 0.02,
        "embedding_model": model,
    }
    assert chosen.items() <= replay.options.items()
    work(replay.id, "test")
    shown = page(browser, f"/replays/{replay.id}/steps/1/")
    assert shown.count("<svg") == 3  # two curves and the chart of the ranks
    assert "Rank-biased overlap" in shown
    assert "kept of a pool of 1, by" in shown
    assert "found with pool 2" in shown
    assert "Cut off below this share of the best score" in page(browser, f"/replays/{replay.id}/")


def test_a_replay_from_a_step_leaves_out_earlier_steps(browser: Client, session: Session) -> None:
    browser.post(f"/sessions/{session.id}/replay/", FORM | {"from_sequence": "4"})
    replay = Replay.objects.get()
    assert replay.options["after_sequence"] == 3
    assert [step.sequence for step in replay.steps.order_by("sequence")] == [4, 6]
    assert re.search(r"From step</dt>\s*<dd[^>]*>(?:<bdi>)?4<", page(browser, f"/replays/{replay.id}/"))
    browser.post(f"/sessions/{session.id}/replay/", FORM | {"from_sequence": "1"})
    assert "after_sequence" not in Replay.objects.latest("created_at").options
    backwards = FORM | {"from_sequence": "4", "through_sequence": "2"}
    refused = browser.post(f"/sessions/{session.id}/replay/", backwards)
    assert "There is no step from 4 through 2: the range ends before it begins." in refused.content.decode()
    refused = browser.post(f"/sessions/{session.id}/replay/", FORM | {"from_sequence": "0"})
    assert refused.status_code == 422


def test_a_queued_replay_says_what_it_waits_for(browser: Client, session: Session) -> None:
    first, second = launch(session, AUDIT, by="test"), launch(session, AUDIT, by="test")
    assert "No worker has taken it yet" not in page(browser, f"/replays/{first.id}/")
    for seconds, each in ((60, first), (30, second)):
        Replay.objects.filter(pk=each.pk).update(created_at=now() - timedelta(seconds=seconds))
    for each in (first, second):
        assert "No worker has taken it yet. Check that" in page(browser, f"/replays/{each.id}/")
    first.steps.update(status="running", lease_until=now() + timedelta(minutes=1), lease_token=uuid7())
    assert "The workers are busy with other replays." in page(browser, f"/replays/{first.id}/")
    assert "It waits for 1 replay launched before it." in page(browser, f"/replays/{second.id}/")


def test_a_replay_says_that_its_provider_has_no_free_call(
    browser: Client, session: Session, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 1
    first, second = launch(session, AUDIT, by="test"), launch(session, AUDIT, by="test")
    Replay.objects.update(status="running")
    ReplayStep.objects.filter(replay=second).update(provider="openai")
    assert "at the same time" not in page(browser, f"/replays/{second.id}/")
    taken = first.steps.earliest("sequence")
    leased = {"lease_token": uuid7(), "lease_until": now() + timedelta(minutes=1)}
    ReplayStep.objects.filter(pk=taken.pk).update(status="running", provider="openai", **leased)
    live = {"HX-Request": "true", "HX-Target": "progress"}
    polled = browser.get(f"/replays/{second.id}/?rev={second.revision}", headers=live)
    assert "openai gets at most 1 call at the same time (MODEL_CALLS_AT_ONCE)." in polled.text


def test_a_long_list_has_a_second_page(
    browser: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "SHOWN", 1)
    older, newer = (launch(session, AUDIT, by="somebody") for _ in range(2))
    first = page(browser, "/replays/")
    assert str(newer.id) in first
    assert str(older.id) not in first
    assert str(older.id) in page(browser, f"/replays/?after={newer.id}")
    assert f"?after={newer.id}" in first
