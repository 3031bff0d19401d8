"""Totals of the steps of a session over HTTP."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.api.conftest import Program
from tests.recording.usage.costs.recorded import two_sessions
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session


@pytest.fixture
def session(project: Project) -> Session:
    return two_sessions(project)[0]


def read_totals(api: Program, session: Session, **query: Any) -> dict[str, Any]:
    answer = api.get(f"/sessions/{session.id}/totals", **query)
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def test_without_a_filter_all_steps_are_totalled_by_kind(api: Program, session: Session) -> None:
    found = read_totals(api, session)
    assert (found["session"], found["by"], found["filter"], found["next"]) == (
        str(session.id),
        "kind",
        "",
        None,
    )
    assert found["totals"] == {
        "actions": 6,
        "timed_actions": 4,
        "steps_ms": 3_040,
        "calls": 3,
        "tool_calls": 3,
        "errors": 1,
        "input_tokens": 30,
        "output_tokens": 6,
        "cost_usd": 0.4,
        "unknown_cost_calls": 1,
    }
    calls, tools = found["items"]
    assert (calls["kind"], calls["steps_ms"], calls["filter"]) == ("llm_call", 3_000, "kind:llm_call")
    assert calls["share"] == pytest.approx(3_000 / 3_040)
    assert (tools["kind"], tools["input_tokens"], tools["errors"]) == ("tool_call", None, 1)


def test_a_filter_selects_a_range_and_a_row_may_be_null(api: Program, session: Session) -> None:
    found = read_totals(api, session, by="tool", filter="seq:1..4")
    assert (found["filter"], found["totals"]["actions"]) == ("step:1-4", 4)
    assert [(each["tool"], each["actions"], each["filter"]) for each in found["items"]] == [
        (None, 3, "step:1-4 -tool:*"),
        ("read", 1, "step:1-4 tool:read"),
    ]


def test_rows_are_paginated_and_totals_cover_all_rows(api: Program, session: Session) -> None:
    complete = read_totals(api, session, by="model")
    first = read_totals(api, session, by="model", limit=1)
    rest = read_totals(api, session, by="model", limit=9, after=first["next"])
    assert first["items"] + rest["items"] == complete["items"]
    assert (rest["next"], first["totals"], rest["totals"]) == (None, complete["totals"], complete["totals"])


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"by": "day"}, "invalid_field"),
        ({"filter": "colour:red"}, "unknown_filter"),
        ({"limit": 0}, "invalid_field"),
        ({"after": "x"}, "invalid_field"),
        ({"after": "WyJ4Il0"}, "unknown_after"),
    ],
)
def test_an_invalid_grouping_or_filter_is_refused(
    api: Program, session: Session, query: dict[str, Any], code: str
) -> None:
    answer = api.get(f"/sessions/{session.id}/totals", **query)
    assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_totals_take_four_queries(
    api: Program, session: Session, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(4):
        read_totals(api, session, by="agent", filter="status:ok")
