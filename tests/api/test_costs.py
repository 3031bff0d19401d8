"""Costs over HTTP: totals, groups, filters, refusals, and isolation between projects."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.api.conftest import Program
from tests.builders import recorded_session, replayed
from tests.recording.usage.costs.recorded import two_sessions
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.runs.pure.options import ReplayOptions

DAYS = {"since": "2026-11-20", "until": "2026-11-21"}


@pytest.fixture
def sessions(project: Project) -> tuple[Session, Session]:
    return two_sessions(project)


def read_costs(api: Program, **query: Any) -> dict[str, Any]:
    answer = api.get("/costs", **(DAYS | query))
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.usefixtures("sessions")
def test_the_totals_count_known_and_unknown_costs(api: Program) -> None:
    totals = read_costs(api)["totals"]
    assert (
        totals
        | {
            "sessions": 2,
            "actions": 8,
            "calls": 5,
            "tool_calls": 3,
            "errors": 1,
            "input_tokens": 40,
            "output_tokens": 8,
            "cost_usd": 0.42,
            "unknown_cost_calls": 1,
            "cached_calls": 1,
            "saved_usd": 0.05,
            "unknown_saved_calls": 0,
            "unknown_reasons": {"not_recorded": 1},
            "timed_calls": 3,
        }
        == totals
    )
    assert totals["p50_ms"] == pytest.approx(1_000, rel=0.026)
    assert totals["p95_ms"] == pytest.approx(2_000, rel=0.026)


@pytest.mark.usefixtures("sessions")
@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("agent", [("coder", 2, 0.3, 1), ("sub", 1, 0.1, 0), ("reviewer", 2, 0.02, 0)]),
        ("model", [("acme:large", 2, 0.4, 0), ("acme:small", 2, 0.02, 0), ("acme:odd", 1, None, 1)]),
        ("tag", [("eu", 5, 0.42, 1), ("nightly", 3, 0.4, 1)]),
        ("day", [("2026-11-21", 3, 0.02, 1), ("2026-11-20", 2, 0.4, 0)]),
    ],
)
def test_costs_are_grouped_by_agent_model_tag_and_day(
    api: Program, by: str, rows: list[tuple[Any, ...]]
) -> None:
    found = read_costs(api, by=by)
    assert [
        (each[by], each["calls"], each["cost_usd"], each["unknown_cost_calls"]) for each in found["items"]
    ] == rows
    assert (found["by"], found["next"], found["since"], found["until"]) == (by, None, *DAYS.values())


@pytest.mark.usefixtures("sessions")
def test_grouping_by_tool_shows_calls_errors_and_latency(api: Program) -> None:
    read, write = read_costs(api, by="tool")["items"]
    assert (read["tool"], read["tool_calls"], read["errors"], read["error_share"]) == ("read", 2, 1, 0.5)
    assert read["p95_ms"] == pytest.approx(20, rel=0.026)
    assert (write["tool"], write["p50_ms"], write["p95_ms"], write["timed_calls"]) == ("write", None, None, 0)


@pytest.mark.usefixtures("sessions")
@pytest.mark.parametrize(
    ("query", "calls", "cost"),
    [
        ({"agent": "coder"}, 2, 0.3),
        ({"model": "acme:small"}, 2, 0.02),
        ({"tag": "nightly"}, 3, 0.4),
        ({"tag": "nightly", "agent": "sub"}, 1, 0.1),
        ({"tool": "read"}, 0, None),
        ({"until": "2026-11-20"}, 2, 0.4),
        ({"agent": "nobody"}, 0, None),
    ],
)
def test_a_filter_excludes_everything_else(
    api: Program, query: dict[str, str], calls: int, cost: float | None
) -> None:
    for by in ("model", "tag"):
        found = read_costs(api, by=by, **query)
        assert (found["totals"]["calls"], found["totals"]["cost_usd"]) == (calls, cost)
        if by == "model" and "tag" not in query:
            assert sum(each["calls"] for each in found["items"]) == calls


@pytest.mark.usefixtures("sessions")
def test_latency_by_tag_covers_the_sessions_with_that_tag(api: Program) -> None:
    eu, nightly = read_costs(api, by="tag")["items"]
    assert (eu["timed_calls"], nightly["timed_calls"]) == (3, 2)
    (only,) = read_costs(api, by="tag", agent="sub", tag="nightly")["items"][:1]
    assert only["timed_calls"] == 1


@pytest.mark.usefixtures("sessions")
def test_rows_are_paginated(api: Program) -> None:
    first = read_costs(api, by="agent", limit=2)
    second = read_costs(api, by="agent", limit=2, after=first["next"])
    assert [each["agent"] for each in (*first["items"], *second["items"])] == ["coder", "sub", "reviewer"]
    assert second["next"] is None
    other = api.get("/costs", **DAYS, by="model", after=first["next"])
    assert (other.status_code, other.json()["code"]) == (422, "unknown_after")


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ({"by": "user"}, "invalid_field", "agent, model, tag, day, tool"),
        ({"since": "yesterday"}, "invalid_span", "'yesterday' is not a date"),
        ({"since": "2026-11-22", "until": "2026-11-20"}, "invalid_span", "after `until`"),
        ({"since": "1020-01-01", "until": "2026-11-20"}, "invalid_span", "the maximum is 36,600"),
        ({"limit": 0}, "invalid_field", "between 1 and 200"),
    ],
)
def test_an_invalid_query_is_refused_with_a_clear_message(
    api: Program, query: dict[str, Any], code: str, words: str
) -> None:
    answer = api.get("/costs", **query)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert words in str(answer.json())


@pytest.mark.usefixtures("sessions")
def test_another_project_sees_none_of_the_costs(stranger: Program) -> None:
    found = read_costs(stranger, by="tag")
    assert (found["totals"]["sessions"], found["totals"]["cost_usd"], found["items"]) == (0, None, [])


def test_the_cost_of_replays_is_shown_separately_from_the_totals(api: Program, project: Project) -> None:
    session = recorded_session(project)
    replayed(session, ReplayOptions(audit=True, reason="Test", use_model="local:extractive-3"))
    found = api.get("/costs").json()
    assert found["until"] == now().date().isoformat()
    assert found["replays"] == {"cost_usd": 0, "unknown_cost_calls": 0, "uncertain_calls": 0}
    assert found["totals"]["calls"] == Action.objects.filter(session=session, kind="ask").count()
    assert api.get("/costs", tag="x").json()["replays"] is None


def test_the_number_of_queries_does_not_grow_with_the_data(
    api: Program, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        two_sessions(project)
        with django_assert_max_num_queries(9):
            read_costs(api, by="tag")
