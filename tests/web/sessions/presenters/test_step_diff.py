"""The Diff tab in the browser: what a step changed compared with the previous or a pinned step."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.builders import QUESTIONS, recorded_session
from tests.web.timelines import HOSTILE, example_actions, get, recorded, words
from timemachine.core.accounts.models import Project
from timemachine.recording.annotations.notes.commands import add
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.web.sessions.presenters.step_diff import FIRST_CHARACTERS

pytestmark = pytest.mark.django_db
MOST_QUERIES = 45


def links(page: str) -> list[str]:
    return [found.replace("&amp;", "&") for found in re.findall(r'href="(\?[^"#]*)', page)]


def test_a_step_is_compared_with_the_one_before_it(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = words(get(operator, "/sessions/s/?step=5&tab=diff"))
    assert "Compared with the previous step 4" in page
    assert "Steps 4 5 +1" in page
    assert "Errors 0 1 +1" in page
    assert "Kind tool call tool result" in page
    assert "Error message not recorded npm test exited with 1" in page
    assert "$0.0213 $0.0213 ±0" in page


def test_a_pinned_step_stays_the_base_on_other_steps(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = get(operator, "/sessions/s/?step=4&tab=diff&pin=1")
    assert "Compared with the pinned step 1" in words(page)
    assert "Messages 1" in words(page)
    assert "Frames used for the first time 2" in words(page)
    onward = [link for link in links(page) if "step=5" in link]
    assert onward
    assert all("pin=1" in link for link in onward)
    assert 'name="pin" value="1"' in page
    assert "pin=1" not in "".join(links(get(operator, "/sessions/s/?step=4&tab=diff")))


def test_the_first_step_is_compared_with_the_beginning(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = words(get(operator, "/sessions/s/?step=1&tab=diff"))
    assert "Compared with the beginning of the session" in page
    assert "Steps 0 1 +1" in page
    assert "First step: nothing to compare with." in page


def test_the_pinned_step_itself_says_what_it_is(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = words(get(operator, "/sessions/s/?step=4&tab=diff&pin=4"))
    assert "This is the pinned step" in page
    assert "Unpin this step" in page


def test_a_base_that_comes_later_is_labelled_as_such(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = words(get(operator, "/sessions/s/?step=2&tab=diff&pin=5"))
    assert "a later step" in page
    assert "Steps 2 5 +3" in page


def test_an_invalid_pin_is_corrected_with_a_notice(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    for pin, message in (
        ("99", "There is no step 99 to pin: this session has 5 steps. The nearest step is pinned: 5."),
        ("0", "The nearest step is pinned: 1."),
        ("9" * 40, "The nearest step is pinned: 5."),
        ("-3", "“-3” is not a step number, so no step is pinned"),
        ("%00", "is not a step number, so no step is pinned"),
        ("²", "is not a step number, so no step is pinned"),
    ):
        assert message in words(get(operator, f"/sessions/s/?step=3&tab=diff&pin={pin}")), pin
    assert message in words(get(operator, f"/sessions/s/?step=3&tab=action&pin={pin}"))


def test_texts_are_compared_word_by_word_and_json_by_its_structure(
    operator: Client, project: Project
) -> None:
    recorded(
        project,
        [
            ActionDraft(
                kind="tool_call", tool="sh", input={"command": "ls", "in": "/a"}, output="Seven files."
            ),
            ActionDraft(
                kind="tool_call", tool="sh", input={"command": "ls", "in": "/b"}, output="Nine files."
            ),
        ],
    )
    page = get(operator, "/sessions/s/?step=2&tab=diff")
    assert '<del class="removed">Seven</del>' in page
    assert '<ins class="added">Nine</ins>' in page
    assert ">/in</th>" in page
    assert ">/command</th>" not in page


def test_parameters_and_figures_are_compared_value_to_value(operator: Client, project: Project) -> None:
    calls = [
        ActionDraft(kind="llm_call", model="a:b", parameters={"temperature": t, "seed": 1}, duration_ms=d)
        for t, d in ((0, 1_000), (0.7, 3_400))
    ]
    recorded(project, calls)
    page = get(operator, "/sessions/s/?step=2&tab=diff")
    assert "/parameters/temperature" in page
    assert "/parameters/seed" not in page
    assert "Duration 1.0 s 3.4 s +2.4 s" in words(page)
    assert "1 call of unknown price" in words(page)


def test_a_repeated_step_has_no_differences(operator: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="message", role="user", output="Again.")] * 2)
    page = words(get(operator, "/sessions/s/?step=2&tab=diff"))
    assert "Equal in every field." in page
    assert "Identical." in page


def test_only_the_beginnings_of_long_values_are_compared_and_the_page_says_so(
    operator: Client, project: Project
) -> None:
    text = "A sentence of some words that says little. " * 3_000
    recorded(project, [ActionDraft(kind="message", output=f"{n} {text}") for n in (1, 2)])
    page = get(operator, "/sessions/s/?step=2&tab=diff")
    assert f"Only the first {FIRST_CHARACTERS:,} characters of each are compared." in words(page)
    assert "more=1" in page
    more = get(operator, "/sessions/s/?step=2&tab=diff&more=1")
    assert "Only the first 30,000 characters of each are compared." in words(more)
    assert "Compare more" not in more


def test_a_diff_of_many_rows_is_paged(operator: Client, project: Project) -> None:
    drafts = [
        ActionDraft(kind="message", output="\n".join(f"{each} {n} is." for n in range(400))) for each in "ab"
    ]
    recorded(project, drafts)
    page = get(operator, "/sessions/s/?step=2&tab=diff")
    later = re.search(r'href="(\?[^"]*line=150[^"]*)"', page)
    assert later
    assert "Earlier rows" in get(operator, "/sessions/s/" + later[1].replace("&amp;", "&"))


def test_the_steps_with_notes_can_be_chosen_as_the_base(operator: Client, project: Project) -> None:
    session = recorded(project, example_actions())
    add(session, 2, f"Here it began. {HOSTILE}", by="a@example.org")
    page = get(operator, "/sessions/s/?step=4&tab=diff")
    assert "Here it began." in words(page)
    assert "?step=4&tab=diff&pin=2" in links(page)
    assert "<script>alert(1)" not in page


def test_the_changes_of_the_collection_are_counted(operator: Client, project: Project) -> None:
    session = recorded_session(project, questions=QUESTIONS[:2])
    page = get(operator, f"/sessions/{session.id}/?step=3&tab=diff&pin=1")
    assert "0 added, 0 updated, 0 removed" in words(page)


def test_the_passages_of_two_finds_are_compared_side_by_side(operator: Client, project: Project) -> None:
    session = recorded_session(project, questions=QUESTIONS[:2])
    page = get(operator, f"/sessions/{session.id}/?step=4&tab=diff&pin=2")
    assert re.search(r"Frames (changed|moved|same)", words(page))
    assert "Frames left" in page
    assert "Frames left" not in get(operator, f"/sessions/{session.id}/?step=1&tab=diff")


def test_a_filter_keeps_the_pinned_step(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = get(operator, "/sessions/s/?step=4&pin=1")
    form = page[page.index('class="filter-form"') :]
    assert '<input type="hidden" name="pin" value="1">' in form[: form.index("</form>")]


def test_hostile_records_are_harmless_in_a_diff(operator: Client, project: Project) -> None:
    drafts = [
        ActionDraft(
            kind="tool_call",
            name=f"{n}{HOSTILE}",
            tool=f"{n}{HOSTILE}",
            input={f"{n}{HOSTILE}": HOSTILE},
            output=f"{n}{HOSTILE}",
            parameters={HOSTILE: n},
            tags=(f"{n}{HOSTILE}",),
            error_type=f"{n}{HOSTILE}",
        )
        for n in (1, 2)
    ]
    recorded(project, drafts)
    page = get(operator, "/sessions/s/?step=2&tab=diff")
    assert "<script>alert(1)" not in page
    assert "\u202e" not in page
    assert "49" not in words(page).split()


def test_the_number_of_queries_does_not_grow_with_the_distance_of_the_steps(
    operator: Client, project: Project
) -> None:
    recorded(project, [ActionDraft(kind="message", output=f"{n}") for n in range(300)])
    counts = []
    for step, pin in ((2, 1), (300, 1), (300, 299)):
        with CaptureQueriesContext(connection) as captured:
            get(operator, f"/sessions/s/?step={step}&tab=diff&pin={pin}", target="step")
        counts.append(len(captured))
    assert max(counts) <= MOST_QUERIES
    assert len(set(counts)) == 1


def test_the_permanent_link_of_a_step_contains_only_what_is_shown(operator: Client, project: Project) -> None:
    session = recorded(project, example_actions())
    page = get(operator, "/sessions/s/?step=4&tab=diff&pin=1&filter=kind:tool_call&open=2")
    assert f'href="/sessions/{session.id}/?step=4&amp;tab=diff&amp;pin=1"' in page
    page = get(operator, "/sessions/s/?step=4&pin=1&filter=kind:tool_call")
    assert f'href="/sessions/{session.id}/?step=4"' in page


def test_replay_from_here_starts_with_the_step_and_is_only_for_recorders(
    operator: Client, viewer: Client, project: Project
) -> None:
    session = recorded_session(project, questions=QUESTIONS[:2])
    page = get(operator, f"/sessions/{session.id}/?step=4")
    assert f'href="/sessions/{session.id}/replay/?from=4"' in page
    inside = get(operator, f"/sessions/{session.id}/?step=5")  # the find inside the ask of step 4
    assert f'href="/sessions/{session.id}/replay/?from=4"' in inside
    assert "/replay/?from=" not in get(viewer, f"/sessions/{session.id}/?step=4")
    form = get(operator, f"/sessions/{session.id}/replay/?from=4")
    assert re.search(r'name="from_sequence"[^>]*value="4"|value="4"[^>]*name="from_sequence"', form)
    assert 'name="from_sequence"' in get(operator, f"/sessions/{session.id}/replay/?from=x")
