"""Search across sessions: what is found, in which order, and what is not."""

import base64
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.memory.search.recorded import found, index, message, session_of, steps
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput, NotFound, Unavailable
from timemachine.knowledge.embedding import table
from timemachine.memory.search.queries import MOST_OF_ONE, MOST_OF_SESSION
from timemachine.memory.search.sessions import SessionQuery, sessions_page
from timemachine.recording.sessions.commands import end_session
from timemachine.recording.sessions.models import Session

pytestmark = pytest.mark.django_db


def test_words_phrases_exclusions_and_alternatives_match(project: Project) -> None:
    session_of(
        project,
        message("The gateway crashed in time."),
        message("crashed at the gateway, some time"),
        message("A passing test."),
    )
    index(project)
    assert sorted(steps(project, "gateway time")) == [("a run", 1), ("a run", 2)]
    assert steps(project, '"gateway crashed"') == [("a run", 1)]
    assert steps(project, 'gateway -"gateway crashed"') == [("a run", 2)]
    assert len(steps(project, '"gateway crashed" or passing')) == 2
    assert steps(project, "gateway passing") == []


def test_an_identifier_finds_exactly_its_own_steps(project: Project) -> None:
    identifiers = {
        "parser.js:42": "parser.js:421",
        "ERR_CONN_RESET": "ERR_CONN_REFUSED",
        "E1042": "E1043",
        "src/app/main.py": "src/app/main.pyc",
        "550e8400-e29b-41d4-a716-446655440000": "550e8400-e29b-41d4-a716-446655440001",
    }
    for one, other in identifiers.items():
        session_of(project, message(f"It failed at {one}."), message(f"It failed at {other}."), name=one)
    index(project)
    for query in identifiers:
        for mode in ("text", "hybrid"):
            [group] = found(project, query, mode=mode).groups
            [hit] = group.hits
            assert (group.session.name, hit.action.sequence) == (query, 1), mode
            assert hit.passage is not None
            assert [hit.passage.text[start:end] for start, end in hit.marks] == [query]
            others = {(name, 1 + (name == query)) for name in identifiers} | {
                (name, 2) for name in identifiers
            }
            assert set(steps(project, f"failed -{query}", mode)) == others


def test_a_step_is_found_by_its_meaning_without_any_of_the_words(project: Project) -> None:
    session_of(
        project, message("The automobile broke down on the motorway."), message("Bake the bread for an hour.")
    )
    index(project)
    assert steps(project, "car failure on a highway") == []
    assert steps(project, "car failure on a highway", "semantic")[0] == ("a run", 1)
    [group] = found(project, "car failure on a highway").groups
    assert list(group.hits[0].scores) == ["semantic"]
    assert group.more == 0


def test_hybrid_mode_ranks_first_what_both_modes_find(project: Project) -> None:
    session_of(project, message("database"), name="words")
    session_of(project, message("The database lost its connection and the query failed."), name="both")
    session_of(project, message("SQL server disconnected"), name="meaning")
    index(project)
    assert steps(project, "database connection lost", "hybrid")[0] == ("both", 1)


def test_the_session_list_is_searched_by_the_text_of_steps(project: Project, other_project: Project) -> None:
    session_of(project, message("The gateway answered 502"), message("It works"), name="nightly")
    session_of(project, message("nothing of that"), name="Gateway plan")
    session_of(project, message("see parser.js:42"), name="mend")
    session_of(other_project, message("gateway"), name="theirs")
    index(project)
    index(other_project)

    def listed(q: str, **filters: str) -> set[str]:
        return {each.name for each in sessions_page(project, SessionQuery(q=q, **filters)).sessions}  # type: ignore[arg-type]

    assert listed("gateway") == {"nightly", "Gateway plan"}
    assert listed("gateway", named="plan") == {"Gateway plan"}
    assert listed("parser.js:42") == listed("men") == {"mend"}
    assert listed("gateway works") == set()  # words of one step
    assert listed("gateway or parser.js:42") == {"nightly", "mend"}
    assert listed("-gateway") == listed("%") == listed("x" * 2_000) == set()


def test_text_of_another_project_is_never_found(project: Project, other_project: Project) -> None:
    session_of(project, message("our gateway"), name="ours")
    other_session = session_of(other_project, message("their gateway"), name="theirs")
    index(project)
    index(other_project)
    for mode in ("text", "semantic", "hybrid"):
        assert steps(project, "gateway", mode) == [("ours", 1)]
        assert steps(other_project, "gateway", mode) == [("theirs", 1)]
    with pytest.raises(NotFound):
        found(project, "gateway", session=str(other_session.id))


@pytest.mark.parametrize("mode", ["text", "semantic", "hybrid"])
def test_filters_restrict_the_steps(project: Project, mode: str) -> None:
    session_of(
        project,
        message("gateway one", kind="tool_call", role=None, tool="read", agent="ada", model="acme:m"),
        message("gateway two", error_message="broken", started_at=None),
        name="first",
        agent="grace",
        user="ann",
        tags=["eu"],
    )
    other = session_of(project, message("gateway three", tags=["late"]), name="second", key="second-key")
    Session.objects.filter(name="first").update(cost_usd=2)
    end_session(other.id)
    index(project)

    def narrowed(**filters: str | float) -> set[tuple[str, int]]:
        return set(steps(project, "gateway", mode, **filters))

    assert narrowed(kind="tool_call") == narrowed(tool="read") == narrowed(model="acme:m") == {("first", 1)}
    assert narrowed(agent="ada") == {("first", 1)}
    assert narrowed(agent="grace") == {("first", 2)}
    assert narrowed(status="error") == {("first", 2)}
    assert narrowed(status="ok") == {("first", 1), ("second", 1)}
    assert narrowed(status="recording") == narrowed(user="ann") == narrowed(tag="eu") == narrowed(min_cost=2)
    assert narrowed(status="ended") == narrowed(tag="late") == {("second", 1)}
    assert narrowed(user="ann", tag="eu", min_cost=1.5, tool="read") == {("first", 1)}
    assert narrowed(user="ann", tag="late") == narrowed(min_cost=2.01) == narrowed(tag="no\x00ne") == set()
    assert narrowed(session=str(other.id)) == narrowed(session="second-key") == {("second", 1)}
    assert narrowed(until="2001-01-01") == narrowed(since="2999-01-01") == narrowed(tool="no\x00ne") == set()
    assert len(narrowed(since="2001-01-01", until="2999-01-01")) == 3


@pytest.mark.parametrize(
    ("filters", "field"),
    [({"mode": "fuzzy"}, "mode"), ({"kind": "dance"}, "kind"), ({"status": "odd"}, "status")],
)
def test_an_unknown_filter_value_is_refused(project: Project, filters: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        found(project, "gateway", **filters)
    assert refusal.value.facts["field"] == field


def test_the_best_steps_of_a_long_session_are_the_first_of_all_its_steps(project: Project) -> None:
    words = ["theme", "timeout", "parser", "retry", "cursor", "lease", "seal", "broker"]
    for name, length in (("long", 90), ("short", 3)):
        session_of(
            project,
            *(
                message(" ".join(["theme", *words[: n * 7 % 8], *["theme"] * (n * 5 % 6)]))
                for n in range(length)
            ),
            name=name,
        )
    index(project)
    groups = found(project, "theme", mode="text").groups
    assert {group.session.name: group.number for group in groups} == {"long": 90, "short": 3}
    for group in groups:
        [whole] = found(project, "theme", mode="text", session=str(group.session.id)).groups
        assert len(whole.hits) == group.number
        best = [hit.action.sequence for hit in whole.hits[:MOST_OF_SESSION]]
        assert [hit.action.sequence for hit in group.hits] == best


def test_a_session_shows_its_best_steps_and_the_number_of_the_others(project: Project) -> None:
    session_of(project, *(message("gateway" + " and more" * n) for n in range(8)), name="many")
    session_of(project, message("gateway"), name="one")
    index(project)
    many = next(
        group for group in found(project, "gateway", mode="text").groups if group.session.name == "many"
    )
    assert (len(many.hits), many.number, many.more) == (MOST_OF_SESSION, 8, 3)
    assert [hit.score for hit in many.hits] == sorted((hit.score for hit in many.hits), reverse=True)
    [alone] = found(project, "gateway", session=str(many.session.id)).groups
    assert (len(alone.hits), alone.more) == (8, 0)
    assert MOST_OF_ONE > MOST_OF_SESSION


@pytest.mark.parametrize("mode", ["text", "semantic", "hybrid"])
def test_pages_of_sessions_contain_every_session_once(project: Project, mode: str) -> None:
    for n in range(7):
        session_of(project, message("gateway" + " again" * (n // 2)), name=f"run {n}")
    index(project)
    names: list[str] = []
    after = None
    while True:
        page = found(project, "gateway", mode=mode, limit=2, after=after)
        names += [group.session.name for group in page.groups]
        after = page.next
        if after is None:
            break
    assert sorted(names) == [f"run {n}" for n in range(7)]
    assert names == [group.session.name for group in found(project, "gateway", mode=mode).groups]


@pytest.mark.parametrize(
    "after", ["!", "e30", base64.urlsafe_b64encode(b'["x", "y"]').decode(), "WzEsMiwzXQ"]
)
def test_a_forged_cursor_is_refused(project: Project, after: str) -> None:
    with pytest.raises(InvalidInput):
        found(project, "gateway", after=after)


def test_words_that_are_too_common_are_reported(project: Project) -> None:
    session_of(project, message("the and of"))
    index(project)
    assert found(project, "the of", mode="text").too_common
    assert not found(project, "the gateway", mode="text").too_common


def test_without_the_model_words_are_searched_and_a_notice_is_shown(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> list[float]:
        raise Unavailable("The files are missing.")

    session_of(project, message("the gateway"))
    index(project)
    monkeypatch.setattr(table, "query_vector", missing)
    page = found(project, "gateway")
    assert page.no_embeddings == "The files are missing."
    assert len(page.groups) == 1
    with pytest.raises(Unavailable):
        found(project, "gateway", mode="semantic")


def test_a_step_without_any_text_is_found_by_its_tool(project: Project) -> None:
    session_of(project, message(None, kind="tool_call", role=None, tool="gateway_restart"))
    index(project)
    [group] = found(project, "gateway_restart", mode="text").groups
    assert group.hits[0].passage is not None
    assert group.hits[0].passage.part == "name"


def test_the_number_of_queries_does_not_grow_with_the_results(
    project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(6):
        session_of(project, message("gateway"), message("gateway again"), name=f"run {n}")
    index(project)
    for limit in (1, 6):
        with django_assert_num_queries(10):
            found(project, "gateway", limit=limit)


def test_any_query_text_is_handled(project: Project) -> None:
    session_of(project, message("gateway"))
    index(project)
    for q in (
        "a & b | !c",
        "'; DROP TABLE tm_action; --",
        "%(x)s %s",
        "<b>",
        "\x00gate",
        "back\\slash",
        "日本語",
    ):
        for mode in ("text", "semantic", "hybrid"):
            found(project, q, mode=mode)
