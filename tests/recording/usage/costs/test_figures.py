"""Cost figures are sums of cells, and the rows add up to the total."""

from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.usage.pure.figures import (
    Cell,
    Row,
    Sums,
    by_agent,
    by_days,
    by_model,
    by_tool,
    dearest_first,
    summed,
)
from timemachine.recording.usage.pure.span import Span

FIRST = date(2026, 11, 1)
SPAN = Span(since=FIRST, until=FIRST + timedelta(days=365))
counts = st.integers(0, 10**9)
sums = st.builds(
    Sums,
    steps=counts,
    calls=counts,
    errors=counts,
    input_tokens=st.none() | counts,
    output_tokens=st.none() | counts,
    cost_usd=st.decimals(0, 10**6, places=15),
    unknown_cost_calls=counts,
)
cells = st.builds(
    Cell,
    key=st.uuids(),
    sessions=st.just(1),
    day=st.integers(0, 40).map(lambda number: FIRST + timedelta(days=number)),
    kind=st.sampled_from(("ask", "tool_call", "tool_result", "message")),
    agent=st.none() | st.sampled_from(("one", "two")),
    model=st.none() | st.just("acme:m"),
    tool=st.none() | st.sampled_from(("read", "write")),
    sums=sums,
)


def cell(
    kind: str, *, tool: str | None = None, model: str | None = None, number: int = 1, errors: int = 0
) -> Cell:
    return Cell(
        key=UUID(int=hash((kind, tool, model)) % 2**64),
        sessions=1,
        day=FIRST,
        kind=kind,
        agent=None,
        model=model,
        tool=tool,
        sums=Sums(
            steps=number,
            calls=number if kind == "llm_call" else 0,
            tool_calls=number if kind == "tool_call" else 0,
            errors=errors,
        ),
    )


@given(st.lists(cells, max_size=12))
def test_costs_by_agent_and_by_day_add_up_exactly(found: list[Cell]) -> None:
    total = summed(each.sums for each in found)
    priced = [each.sums.cost_usd for each in found if each.sums.cost_usd is not None]
    assert total.cost_usd == (sum(priced, Decimal(0)) if priced else None)
    for rows in (by_agent(found), by_days(found, SPAN), by_days(found, SPAN, "week")):
        assert summed(row.sums for row in rows) == total
        assert len({row.value for row in rows}) == len(rows)


@given(st.lists(cells, max_size=12))
def test_a_row_of_several_days_is_named_after_the_first(found: list[Cell]) -> None:
    firsts = [row.value for row in by_days(found, SPAN, "week")]
    assert firsts == sorted({SPAN.first_of(each.day, "week") for each in found}, reverse=True)


def test_only_calls_have_a_model_and_calls_without_one_share_a_row() -> None:
    rows = by_model(
        [
            cell("llm_call"),
            cell("ask"),  # without a model, a tool answered
            cell("message", model="acme:m", number=3),
            cell("tool_call", tool="read"),
        ]
    )
    assert [(row.value, row.sums.steps) for row in rows] == [(None, 1), ("acme:m", 3)]


@given(st.lists(cells, max_size=12))
def test_what_was_spent_by_model_adds_up_to_the_total(found: list[Cell]) -> None:
    total, rows = summed(each.sums for each in found), summed(row.sums for row in by_model(found))
    assert (rows.cost_usd, rows.input_tokens, rows.output_tokens) == (
        total.cost_usd,
        total.input_tokens,
        total.output_tokens,
    )
    assert rows.unknown_cost_calls == total.unknown_cost_calls


def test_tool_errors_are_counted_on_calls_or_on_their_results() -> None:
    (row,) = by_tool(
        [
            cell("tool_call", tool="read", number=8, errors=1),
            cell("tool_result", tool="read", number=7, errors=1),
            cell("message", tool="read", errors=1),
            cell("tool_call"),
        ]
    )
    assert (row.value, row.sums.tool_calls, row.sums.errors, row.error_share) == ("read", 8, 2, 0.25)
    assert row.cells == {cell("tool_call", tool="read").key}


def test_an_unknown_error_share_is_none() -> None:
    assert Row(value="read", sums=Sums(errors=1)).error_share is None
    assert Row(value="read", sums=Sums(tool_calls=1, errors=2)).error_share is None
    assert Row(value="read", sums=Sums(tool_calls=1)).error_share == 0


def test_calls_of_unknown_price_come_before_free_ones() -> None:
    dear = Row(value="a", sums=Sums(cost_usd=Decimal(1)))
    unknown = Row(value="c", sums=Sums(unknown_cost_calls=1))
    free = Row(value="b", sums=Sums(calls=9))
    assert dearest_first([free, unknown, dear]) == [dear, unknown, free]


def test_unrecorded_tokens_are_none() -> None:
    assert Sums().tokens is None
    assert Sums(output_tokens=3).tokens == 3
