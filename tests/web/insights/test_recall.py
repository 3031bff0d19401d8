"""The recall page, which answers questions from earlier sessions."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.memory.search.recorded import index, session_of
from tests.memory.search.recorded import message as message_step
from tests.web.insights.test_search import words
from timemachine.core.accounts.models import Project
from timemachine.governance.deletion.erasure.commands import delete_turn
from timemachine.memory.search.recall.prompt_text import prompt_text
from timemachine.memory.search.recall.queries import recall
from timemachine.memory.search.recall.questions import RecallOptions

pytestmark = pytest.mark.django_db


def test_the_empty_page_shows_example_questions(viewer: Client) -> None:
    page = viewer.get("/recall/").text
    assert "autofocus" in page
    assert "what did we decide yesterday?" in page
    assert 'href="/recall/"' in viewer.get("/search/").text


def test_turns_are_recalled_with_their_session_and_step(viewer: Client, project: Project) -> None:
    session = session_of(
        project,
        message_step("All well."),
        message_step("The connection pool was exhausted.", significance="breakthrough"),
        name="Nightly <repair>",
    )
    session_of(project, message_step("The button is too small."), name="Style")
    index(project)
    page = viewer.get("/recall/?q=why+did+the+connections+fail%3F").text
    assert "Nightly &lt;repair&gt;" in page
    assert "<mark>connection</mark>" in page
    assert f"/sessions/{session.id}/?step=2" in page
    assert "meaning 0." in page
    assert "importance 0.97" in page
    assert "Style" not in page
    narrowed = words(viewer, "/recall/?q=connection&significance=error")
    assert "No results" in narrowed
    assert "Search all steps of all sessions" in narrowed
    inside = words(viewer, f"/recall/?q=connection&session={session.key}&mode=text")
    assert "session: Nightly <repair>" in inside


def test_the_interpretation_of_a_time_is_shown_and_can_be_turned_off(
    viewer: Client, project: Project
) -> None:
    session = session_of(project, message_step("The gateway timed out."), name="Nightly")
    index(project)
    shown = words(viewer, "/recall/?q=the+gateway+in+May+2020&time_zone=Europe/Berlin")
    assert "in May 2020 means 2020-04-30 22:00" in shown
    assert "Search without time expressions" in shown
    page = viewer.get("/recall/?q=the+gateway+in+May+2020&times=words").text
    assert f"/sessions/{session.id}/?step=1" in page
    assert "Time expressions are turned off." in page
    assert "since 2020-05-01" in words(viewer, "/recall/?q=gateway+since+May+2020")
    assert "before 2020-05-01" in words(viewer, "/recall/?q=gateway+before+May+2020")
    shown = words(viewer, "/recall/?q=what+happened+in+the+last+session%3F")
    assert "means the previous session, Nightly" in shown
    assert "No search terms: showing the most important steps." in shown
    shown = words(viewer, "/recall/?q=what+happened+in+our+last+meeting%3F")
    assert "means the previous session of any kind, Nightly" in shown
    shown = words(viewer, "/recall/?q=Last+Session+what+happened%3F")
    assert "Last Session means the previous session, Nightly" in shown
    shown = words(viewer, "/recall/?q=LAST+MEETING+what+happened%3F")
    assert "means the previous session of any kind, Nightly" in shown
    shown = words(viewer, "/recall/?q=gateway+since+the+last+session%3F")
    assert "since the last session means the time after the session Nightly" in shown
    shown = words(viewer, "/recall/?q=gateway+on+31+February")
    assert "on 31 February is not understood as a time (this day does not exist); searched as words." in shown
    shown = words(viewer, "/recall/?q=gateway+in+the+last+three+sessions")
    assert "means the previous sessions (there is only 1), Nightly" in shown
    session_of(project, message_step("The gateway is back."), name="Morning")
    shown = words(viewer, "/recall/?q=gateway+in+the+last+two+sessions")
    assert "means the previous sessions, Morning, Nightly" in shown
    shown = words(viewer, "/recall/?q=gateway+before+the+last+two+sessions")
    assert "means the time before the sessions Morning, Nightly" in shown
    shown = words(viewer, "/recall/?q=gateway+in+the+session+before+last")
    assert "means the session before the last, Nightly" in shown
    assert "the previous session, but none was found" in words(viewer, "/recall/?q=last+session&user=nobody")


def test_surrounding_turns_are_shown_in_order_with_omissions_counted(
    viewer: Client, project: Project
) -> None:
    materials = ("wood", "iron", "glass", "<b>wool</b>", "x" * 2_000)
    session_of(project, *(message_step(f"step of {each}") for each in materials), name="Stuff")
    index(project)
    assert "Show context steps" in words(viewer, "/recall/?q=glass&mode=text")
    shown = words(viewer, "/recall/?q=glass&mode=text&around=1")
    assert shown.index("1 step left out") < shown.index("step of iron") < shown.index("step of <b>wool</b>")
    assert shown.count("1 step left out") == 2
    shown = words(viewer, "/recall/?q=wool&mode=text&around=1")
    assert "x" * 900 in shown
    assert "x" * 1_001 not in shown


def test_the_page_but_not_the_prompt_says_who_deleted_a_context_turn_and_why(
    viewer: Client, project: Project
) -> None:
    session = session_of(project, message_step("step of iron"), message_step("step of glass"), name="Stuff")
    delete_turn(session.actions.get(sequence=1), reason="asked for", by="Oskar")
    index(project)
    page = words(viewer, "/recall/?q=glass&mode=text&around=1")
    assert re.search(r"deleted on 20\d\d-\d\d-\d\d [\d:.]+ UTC by Oskar", page)
    assert "asked for" in page
    prompt = prompt_text(
        recall(project, RecallOptions(queries=("glass",), mode="text", around=1)), 1_000
    ).text
    assert re.search(r"\[deleted 20\d\d-\d\d-\d\d \d\d:\d\d UTC\]", prompt)
    assert "Oskar" not in prompt


def test_a_question_with_invalid_characters_is_answered(viewer: Client, project: Project) -> None:
    session_of(project, message_step("The connection pool was exhausted."), name="Nightly")
    index(project)
    assert "Nightly" in words(viewer, "/recall/?q=con%00nection+pool")
    assert "Nightly" in words(viewer, "/recall/?q=pool%EF%BF%BF+pool&around=1&user=")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("q=x&min_importance=much", "is not an importance"),
        ("q=x&around=7", "is not a valid number of context steps"),
        ("q=x&time_zone=Mars", "Unknown time zone"),
        ("q=x&kind=dance", "“kinds” cannot be"),
        ("q=x&mode=fuzzy", "“mode” cannot be"),
        ("q=x&since=then", "is not a time"),
    ],
)
def test_an_invalid_query_is_explained_next_to_the_form(viewer: Client, query: str, message: str) -> None:
    assert message in words(viewer, f"/recall/?{query}")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("since=foo", "since"),
        ("until=foo", "until"),
        ("since=2026-11-03&until=2026-11-02", "since"),
        ("time_zone=Mars", "time_zone"),
        ("min_importance=much", "min_importance"),
        ("around=7", "around"),
    ],
)
def test_an_invalid_value_is_marked_at_its_field(viewer: Client, query: str, field: str) -> None:
    page = viewer.get(f"/recall/?q=x&{query}").text
    marked = [tag for tag in re.findall(r"<(?:input|select)[^>]*>", page) if 'aria-invalid="true"' in tag]
    assert len(marked) == 1
    assert f'name="{field}"' in marked[0]
    assert re.search(r'<details class="options"\s+open>', page)


def test_steps_that_are_not_yet_indexed_are_counted(
    viewer: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_of(project, message_step("gateway"), message_step("gateway"))
    assert "2 steps are still being indexed" in words(viewer, "/recall/?q=gateway")


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("what+did+we+find+out+in+May+2020%3F", "Nothing was recorded in that time: 2020-05-01 00:00 to 2020-06-01 00:00 (UTC)."),
        ("gateway+in+May+2020&time_zone=Europe/Berlin", "in that time: 2020-05-01 00:00 to 2020-06-01 00:00 (Europe/Berlin)."),
        ("gateway+before+May+2020", "in that time: before 2020-05-01 00:00 (UTC)."),
        ("gateway+in+May+2020&agent=ada", "Nothing that matches the filter (agent ada) was recorded in that time:"),
        ("gateway&min_importance=1&agent=ada&tag=x", "No step matches the filter: agent ada, tag x, importance from 1."),
        ("mutex&mode=text", "No step contains one of the words. Try other words."),
        ("mutex&mode=text&kind=message", "No step within these limits contains one of the words."),
        ("gateway+in+the+last+session&user=nobody", "There is no earlier session."),
    ],
)  # fmt: skip
def test_an_empty_result_states_the_actual_cause(
    viewer: Client, project: Project, query: str, why: str
) -> None:
    session_of(project, message_step("The gateway timed out."), name="Nightly")
    index(project)
    shown = words(viewer, f"/recall/?q={query}")
    assert why in shown
    assert ("Try other words" in shown) == ("mutex" in query)


def test_an_empty_project_says_that_nothing_is_recorded(viewer: Client, project: Project) -> None:
    assert "Nothing is recorded yet." in words(viewer, "/recall/?q=gateway")


def test_another_projects_turns_are_not_recalled(
    viewer: Client, project: Project, other_project: Project
) -> None:
    theirs = session_of(other_project, message_step("their gateway"), name="theirs")
    index(other_project)
    assert "No results" in words(viewer, "/recall/?q=gateway")
    assert viewer.get(f"/recall/?q=gateway&session={theirs.id}").status_code == 404


def test_the_number_of_queries_does_not_grow_with_sessions(
    viewer: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(8):
        session_of(project, message_step("gateway"), name=f"run {n}")
    index(project)
    viewer.get("/recall/?q=gateway")
    with django_assert_max_num_queries(25):
        viewer.get("/recall/?q=gateway")
