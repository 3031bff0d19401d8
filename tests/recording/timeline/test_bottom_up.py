"""Totals by value: their sums, their order, and the filter for each row."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.timeline.pure.aggregation import bottom_up, narrowed
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.usage.pure.figures import Sums, summed

SUMS = st.builds(
    Sums,
    steps=st.integers(0, 9),
    timed=st.integers(0, 9),
    duration_ms=st.integers(0, 10_000).map(float),
    input_tokens=st.none() | st.integers(0, 99),
    cost_usd=st.decimals(0, 9, places=3),
    unknown_cost_calls=st.integers(0, 9),
)
PARTS = st.lists(st.tuples(st.none() | st.sampled_from("abc"), SUMS))


@given(PARTS)
def test_the_rows_add_up_to_the_total_and_are_distinct(parts: list[tuple[str | None, Sums]]) -> None:
    found = bottom_up("tool", parts)
    assert summed(line.sums for line in found.lines) == found.whole == summed(sums for _, sums in parts)
    values = [line.value for line in found.lines]
    assert len(values) == len(set(values)) == len({value for value, _ in parts})


def test_a_row_of_corrections_alone_takes_back_no_calls() -> None:
    found = bottom_up(
        "kind", [("event", Sums(unknown_cost_calls=-1)), ("llm_call", Sums(unknown_cost_calls=3))]
    )
    assert found.whole.unknown_cost_calls == 2
    assert {line.value: line.sums.unknown_cost_calls for line in found.lines} == {"event": 0, "llm_call": 3}


def test_the_longest_row_comes_first_and_rows_without_time_last() -> None:
    parts = [
        ("untimed", Sums(steps=9)),
        (None, Sums(steps=9)),
        ("b", Sums(steps=1, timed=1, duration_ms=10)),
        ("a", Sums(steps=1, timed=1, duration_ms=10)),
        ("long", Sums(steps=1, timed=1, duration_ms=20)),
        ("busy", Sums(steps=2, timed=1, duration_ms=10)),
    ]
    found = bottom_up("tool", parts)
    assert [(line.value, line.share) for line in found.lines] == [
        ("long", 0.4),
        ("busy", 0.2),
        ("a", 0.2),
        ("b", 0.2),
        ("untimed", None),
        (None, None),
    ]
    assert (found.whole.took_ms, found.lines[-1].sums.took_ms) == (50, None)


def test_without_any_time_there_are_no_shares() -> None:
    found = bottom_up("kind", [("ask", Sums(steps=1, timed=1))])
    assert (found.lines[0].share, found.whole.took_ms) == (None, 0)


def test_unrecorded_values_are_none_and_costs_add_up() -> None:
    parts = [
        Sums(cost_usd=Decimal("0.1"), unknown_cost_calls=1),
        Sums(cost_usd=Decimal("0.2"), output_tokens=3),
    ]
    total = summed(parts)
    assert (total.input_tokens, total.output_tokens) == (None, 3)
    assert (total.cost_usd, total.unknown_cost_calls) == (Decimal("0.3"), 1)


@pytest.mark.parametrize(
    ("written", "by", "value", "narrow"),
    [
        ("", "kind", "ask", "kind:ask"),
        ("kind:ask,find status:error", "kind", "ask", "kind:ask status:error"),
        ("step:5-9", "tool", "read file", 'step:5-9 tool:"read file"'),
        ("", "model", None, "-model:*"),
        ("agent:a", "agent", "a", "agent:a"),
        ("tool:r*", "tool", "read", "tool:r* tool:read"),
        ("", "tool", "read*", None),
        ("", "tool", "", None),
        ("", "tool", "x" * 501, None),
    ],
)
def test_a_row_links_to_its_steps_if_a_filter_can_select_them(
    written: str, by: str, value: str | None, narrow: str | None
) -> None:
    found = narrowed(parse(written), by, value)
    assert (None if found is None else str(found)) == narrow
