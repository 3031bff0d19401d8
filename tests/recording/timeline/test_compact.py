"""Grouping in the compact view: calls with their results, and repeats in a row, within a hundred steps."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.timeline.pure.compact import bundles, hundred
from timemachine.recording.timeline.pure.nesting import Row


def message(sequence: int, **about: Any) -> Row:
    return Row(sequence=sequence, kind="message", **about)


def call(sequence: int, tool: str = "read", **about: Any) -> Row:
    return Row(sequence=sequence, kind="tool_call", tool=tool, **about)


def result(sequence: int, **about: Any) -> Row:
    return Row(sequence=sequence, kind="tool_result", tool="read", **about)


def rows(*steps: Row) -> list[list[int]]:
    return [[step.sequence for step in bundle.steps] for bundle in bundles(steps)]


SOME = st.none() | st.sampled_from("ab")
STEPS = st.lists(
    st.builds(
        Row,
        sequence=st.integers(1, 400),
        kind=st.sampled_from(["tool_call", "tool_result", "message"]),
        tool=SOME,
        call_id=SOME,
        client_id=SOME,
        parent_id_given=SOME,
        parent_sequence=st.none() | st.integers(1, 400),
        failed=st.booleans(),
    ),
    unique_by=lambda step: step.sequence,
).map(lambda steps: sorted(steps, key=lambda step: step.sequence))


@given(STEPS)
def test_every_step_is_in_one_row_and_rows_are_ordered_by_first_step(steps: list[Row]) -> None:
    found = bundles(steps)
    assert sorted(step.sequence for bundle in found for step in bundle.steps) == [
        step.sequence for step in steps
    ]
    heads = [bundle.head.sequence for bundle in found]
    assert heads == sorted(heads) == [bundle.steps[0].sequence for bundle in found]


@given(STEPS, st.integers(0, 3))
def test_grouping_does_not_depend_on_the_window(steps: list[Row], at: int) -> None:
    within = [step for step in steps if hundred(step.sequence) >= at]
    assert bundles(within) == [each for each in bundles(steps) if hundred(each.head.sequence) >= at]


@pytest.mark.parametrize(
    ("given", "result_fields"),
    [
        ({"call_id": "c"}, {"call_id": "c"}),
        ({"client_id": "i"}, {"parent_id_given": "i"}),
        ({}, {"parent_sequence": 1}),
        ({"call_id": "c", "client_id": "i"}, {"call_id": "other", "parent_id_given": "i"}),
    ],
)
def test_a_result_is_grouped_with_its_call_wherever_it_comes(
    given: dict[str, Any], result_fields: dict[str, Any]
) -> None:
    assert rows(call(1, **given), message(2), result(3, **result_fields)) == [[1, 3], [2]]


@pytest.mark.parametrize("about", [{}, {"call_id": "x"}, {"parent_sequence": 2}, {"parent_id_given": "c"}])
def test_a_result_without_a_call_has_its_own_row(about: dict[str, Any]) -> None:
    assert rows(call(1, call_id="c"), message(2), result(3, **about)) == [[1], [2], [3]]


def test_repeats_of_a_tool_are_grouped_with_their_results() -> None:
    steps = [call(1, call_id="a"), call(2, call_id="b"), result(3, call_id="b"), result(4, call_id="a")]
    (found,) = bundles(steps)
    assert [[step.sequence for step in unit] for unit in found.units] == [[1, 4], [2, 3]]
    assert rows(*steps, call(5, "write"), call(6)) == [[1, 2, 3, 4], [5], [6]]


def test_steps_without_a_tool_are_repeats_if_they_have_the_same_label() -> None:
    assert rows(*(message(n, label="ping") for n in (1, 2)), message(3, label="pong")) == [
        [1, 2],
        [3],
    ]


def test_failed_steps_are_not_grouped_with_successful_ones() -> None:
    steps = [
        call(1),
        call(2, call_id="b"),
        result(3, call_id="b", failed=True),
        call(4),
        call(5, failed=True),
    ]
    assert rows(*steps) == [[1], [2, 3], [4], [5]]
    assert [bundle.failed for bundle in bundles(steps)] == [False, True, False, True]


def test_a_run_across_a_hundred_boundary_is_two_rows() -> None:
    assert rows(*(message(n) for n in range(99, 103))) == [[99, 100], [101, 102]]
    assert rows(call(100, call_id="c"), result(101, call_id="c")) == [[100], [101]]


@pytest.mark.parametrize(
    ("call_took", "result_took", "took"),
    [(5.0, 3.0, 5.0), (None, 3.0, 3.0), (5.0, None, 5.0), (None, None, None)],
)
def test_the_duration_of_a_row_is_that_of_its_calls_or_else_of_their_results(
    call_took: float | None, result_took: float | None, took: float | None
) -> None:
    (found,) = bundles(
        [call(1, call_id="c", duration_ms=call_took), result(2, call_id="c", duration_ms=result_took)]
    )
    assert found.duration_ms == took
    (twice,) = bundles([message(1, duration_ms=took), message(2, duration_ms=1.0)])
    assert twice.duration_ms == (took or 0) + 1
