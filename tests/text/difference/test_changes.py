"""Readable JSON changes: every difference is marked, and omitted text is indicated."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.text.pure.difference.changes import BESIDE, LONGEST, MOST, ChangeRow, changes_of
from timemachine.text.pure.difference.text import Span

LONG = "word " * 1_000


def marked(spans: tuple[Span, ...]) -> list[tuple[str, str]]:
    return [(span.mark, span.text) for span in spans if span.mark != "same"]


def only(left: Any, right: Any) -> ChangeRow:
    (row,) = changes_of(left, right).rows
    return row


def test_differences_in_a_long_text_are_marked_with_some_context() -> None:
    row = only({"a": f"{LONG}cat {LONG}"}, {"a": f"{LONG}dog {LONG}"})
    assert (row.path, row.op) == ("/a", "changed")
    assert marked(row.left) == [("removed", "cat")]
    assert marked(row.right) == [("added", "dog")]
    assert row.left[0].text.startswith("…")
    assert row.left[-1].text.endswith("…")
    assert len(row.left[0].text) == BESIDE + 1


def test_a_long_unchanged_stretch_between_two_differences_is_left_out() -> None:
    row = only([f"cat {LONG}cat"], [f"dog {LONG}dog"])
    assert [mark for mark, _ in marked(row.left)] == ["removed", "removed"]
    assert "…" in row.left[1].text
    assert len(row.left[1].text) == 2 * BESIDE + 1


def test_a_side_without_marks_shows_its_beginning() -> None:
    row = only([LONG.strip()], [f"{LONG}cat"])
    assert [span.text for span in row.left] == [f"{LONG[:BESIDE]}…"]
    assert "cat" in marked(row.right)[0][1]


def test_a_side_that_differs_completely_is_truncated_with_a_notice() -> None:
    row = only(["cat " * 3_000], ["dog " * 3_000])
    for side in (row.left, row.right):
        text = "".join(span.text for span in side)
        assert text.endswith("…")
        assert len(text) <= LONGEST + 1


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({}, {"a": [1]}, ("/a", "added", [], ["[1]"])),
        ({"a": None}, {}, ("/a", "removed", ["null"], [])),
        ([1], [True], ("/0", "changed", ["1"], ["true"])),
        ([1], ["x" * 900], ("/0", "changed", ["1"], [f'"{"x" * 599}…'])),
        ([1], {}, ("/", "changed", ["[1]"], ["{}"])),
    ],
)
def test_other_values_are_shown_in_full(left: Any, right: Any, expected: Any) -> None:
    row = only(left, right)
    sides = [[span.text for span in side] for side in (row.left, row.right)]
    assert (row.path, row.op, *sides) == expected


def test_numbers_and_names_are_compared_with_all_values_of_the_other_side() -> None:
    left = {"by": "It was paid by Anna Weber.", "sum": 12, "of": [30, True]}
    right = {"by": "It was paid by Otto Brandt.", "sum": 30, "of": [31, True]}
    found = {each.what: (list(each.left), list(each.right)) for each in changes_of(left, right).distinctions}
    assert found == {"numbers": (["12"], ["31"]), "names": (["Anna Weber"], ["Otto Brandt"])}


def test_changes_beyond_the_limit_are_counted() -> None:
    found = changes_of(list(range(MOST + 7)), [f"{number}" for number in range(MOST + 7)])
    assert (len(found.rows), found.more) == (MOST, 7)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert changes_of(value, value).rows == ()


@given(st.text(), st.text())
def test_two_texts_that_differ_are_marked(left: str, right: str) -> None:
    for row in changes_of([left], [right]).rows:
        assert marked(row.left) or marked(row.right)
