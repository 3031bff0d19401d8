"""Totals of the steps of a session: stored counts match a recount, and each row matches its filter."""

from dataclasses import asdict
from decimal import Decimal
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.recording.timeline.conftest import Record
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.timeline import totals
from timemachine.recording.timeline.pure.aggregation import GROUPS
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.timeline.rows import matches
from timemachine.recording.timeline.schemas.overview import line_of
from timemachine.recording.timeline.totals import totals_by
from timemachine.recording.usage.pure.figures import Sums

pytestmark = pytest.mark.django_db

ODD = 'a\x00b\u202e "<b>" \\'


def drafts() -> list[ActionDraft]:
    call: dict[str, Any] = {
        "kind": "llm_call",
        "usage": Usage(input_tokens=10, output_tokens=2),
        "duration_ms": 1_000.0,
    }
    return [
        ActionDraft(kind="message", role="user", output="Look for null."),
        ActionDraft(model="acme:large", cost_usd=Decimal("0.3"), **call),
        ActionDraft(model="acme:odd", agent="sub", **call),
        ActionDraft(kind="tool_call", tool="read", duration_ms=40),
        ActionDraft(kind="tool_result", tool="read", error_type="Exit", error_message="null"),
        ActionDraft(kind="tool_call", tool=ODD, model="acme:small", cost_usd=Decimal("0.01")),
        ActionDraft(kind="tool_call", duration_ms=0.5, agent=ODD),
    ]


def figures(sums: Sums) -> dict[str, Any]:
    return asdict(sums) | {"duration_ms": pytest.approx(sums.duration_ms)}


@pytest.mark.parametrize("by", GROUPS)
@pytest.mark.parametrize(
    "written",
    [
        "",
        "kind:tool_call,tool_result",
        "tool:read",
        "-tool:re*",
        "tool:read,x model:*",
        "agent:coder",
        "-agent:coder",
        "-agent:*",
        "-kind:message -model:acme:large",
    ],
)
def test_stored_counts_match_the_steps(
    record: Record, monkeypatch: pytest.MonkeyPatch, by: str, written: str
) -> None:
    session = record(drafts(), agent="coder")
    stored = totals_by(session, by, parse(written))
    monkeypatch.setattr(totals, "_has_counts", lambda _: False)
    recomputed = totals_by(session, by, parse(written))
    assert [(line.value, figures(line.sums)) for line in stored.lines] == [
        (line.value, figures(line.sums)) for line in recomputed.lines
    ]
    assert stored.whole.steps == matches(session, parse(written))


@pytest.mark.parametrize("by", GROUPS)
@pytest.mark.parametrize("written", ["", "status:error", "step:2-5", "null", "tool:read"])
def test_every_row_links_to_a_filter_that_shows_its_steps(record: Record, by: str, written: str) -> None:
    session = record(drafts())
    found = totals_by(session, by, parse(written))
    assert found.whole.steps == matches(session, parse(written))
    for line in found.lines:
        there = line_of(line, by, parse(written)).filter
        assert there is not None
        assert matches(session, parse(there)) == line.sums.steps


def test_the_totals_of_a_session_by_model(record: Record) -> None:
    found = totals_by(record(drafts(), agent="coder"), "model")
    assert [
        (line.value, line.sums.steps, line.sums.calls, line.sums.tool_calls, line.sums.took_ms)
        for line in found.lines
    ] == [
        ("acme:large", 1, 1, 0, 1_000),
        ("acme:odd", 1, 1, 0, 1_000),
        (None, 4, 0, 2, 40.5),
        ("acme:small", 1, 1, 1, None),
    ]
    total = found.whole
    assert (total.errors, total.input_tokens, total.output_tokens) == (1, 20, 4)
    assert (total.cost_usd, total.unknown_cost_calls) == (Decimal("0.31"), 1)
    assert [(line.value, line.sums.steps) for line in totals_by(record(drafts()), "agent").lines] == [
        (None, 5),
        ("sub", 1),
        (ODD, 1),
    ]


@pytest.mark.parametrize("written", ["", "tool:read", "status:ok step:1-900 took:>1"])
def test_totals_take_one_query_for_any_session(
    record: Record, django_assert_num_queries: DjangoAssertNumQueries, written: str
) -> None:
    session = record(drafts() * 150)
    with django_assert_num_queries(1):
        totals_by(session, "tool", parse(written))


def test_the_totals_of_a_session_without_steps_are_empty(record: Record) -> None:
    found = totals_by(record([]), "kind")
    assert (found.lines, found.whole) == ((), Sums())


def test_an_unknown_grouping_is_refused_with_a_clear_message(record: Record) -> None:
    with pytest.raises(InvalidInput, match="Use one of: kind, tool, model, agent"):
        totals_by(record([]), "day")
