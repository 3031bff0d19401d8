import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.difference.json import JsonChange, comparable, json_diff

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(alphabet="ab/~", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b/c", "id", "~"]), inner, max_size=3)
    ),
    max_leaves=12,
)

NUMBERS = st.recursive(
    st.integers(-1, 2) | st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0]) | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=8,
)


def changes(old: Any, new: Any) -> list[tuple[str, str, Any, Any]]:
    return [(each.op, each.path, each.old, each.new) for each in json_diff(old, new)]


@settings(deadline=None)
@given(VALUES | NUMBERS, VALUES | NUMBERS)
def test_there_are_no_changes_if_and_only_if_the_values_are_equal(old: Any, new: Any) -> None:
    assert json_diff(old, old) == ()
    assert (json_diff(old, new) == ()) == (comparable(old) == comparable(new))


@given(VALUES, VALUES)
def test_without_fractions_values_are_equal_exactly_when_their_json_is(old: Any, new: Any) -> None:
    alike = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
    assert (comparable(old) == comparable(new)) == alike


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (1e3, 1000, True),
        (2**53 + 1, float(2**53), False),
        (1, 1.5, False),
        (1, True, False),
        (1.0, True, False),
        (0, False, False),
        (1, "1", False),
        (0, None, False),
        ({"a": [1.0, {"b": 2}]}, {"a": [1, {"b": 2.0}]}, True),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}, True),
        ([1, 2], [2.0, 1.0], False),
    ],
)
def test_numbers_that_are_equal_in_json_are_the_same(one: Any, other: Any, same: bool) -> None:
    assert (comparable(one) == comparable(other), json_diff(one, other) == ()) == (same, same)


KEYED = st.lists(
    st.fixed_dictionaries({"id": st.integers(0, 9), "x": VALUES}),
    max_size=8,
    unique_by=lambda item: str(item["id"]),
)


def apply_changes(old: Any, changes: Sequence[JsonChange]) -> Any:
    """Return the new value, computed from the old one and the differences of `json_diff`. The old value does not change."""
    return _applied(old, [(_parts(change.path), change) for change in changes])


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:])


def _applied(value: Any, changes: Sequence[tuple[tuple[str, ...], JsonChange]]) -> Any:
    if not changes:
        return value
    for parts, change in changes:
        if not parts:
            return change.new
    direct = [(parts[0], change) for parts, change in changes if len(parts) == 1]
    nested: dict[str, list[tuple[tuple[str, ...], JsonChange]]] = {}
    for parts, change in changes:
        if len(parts) > 1 or change.op == "changed":
            nested.setdefault(parts[0], []).append((parts[1:], change))
    return _in_list(value, direct, nested) if isinstance(value, list) else _in_mapping(value, direct, nested)


def _in_mapping(
    value: Mapping[str, Any],
    direct: Sequence[tuple[str, JsonChange]],
    nested: Mapping[str, list[tuple[tuple[str, ...], JsonChange]]],
) -> dict[str, Any]:
    removed = {name for name, change in direct if change.op == "removed"}
    remaining = {
        name: _applied(item, nested.get(name, [])) for name, item in value.items() if name not in removed
    }
    return remaining | {name: change.new for name, change in direct if change.op == "added"}


def _in_list(
    value: Sequence[Any],
    direct: Sequence[tuple[str, JsonChange]],
    nested: Mapping[str, list[tuple[tuple[str, ...], JsonChange]]],
) -> list[Any]:
    """Apply removals, then moves, then additions, and changes inside items last, because indexes are counted in this order."""
    removed = {int(name) for name, change in direct if change.op == "removed"}
    items = _reordered([item for index, item in enumerate(value) if index not in removed], direct)
    for name, change in direct:
        if change.op == "added":
            items.insert(int(name), change.new)
    return [_applied(item, nested.get(str(index), [])) for index, item in enumerate(items)]


def _reordered(items: Sequence[Any], direct: Sequence[tuple[str, JsonChange]]) -> list[Any]:
    moves = {change.new: change.old for _, change in direct if change.op == "moved"}
    moving = set(moves.values())
    steady = (item for index, item in enumerate(items) if index not in moving)
    return [items[moves[place]] if place in moves else next(steady) for place in range(len(items))]


@given(VALUES | KEYED, VALUES | KEYED)
def test_applying_the_changes_to_the_old_value_gives_the_new_one(old: Any, new: Any) -> None:
    before = json.dumps(old)
    made = apply_changes(old, json_diff(old, new))
    assert json.dumps(made, sort_keys=True) == json.dumps(new, sort_keys=True)
    assert json.dumps(old) == before


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (1, 1.0, []),
        (1, True, [("changed", "", 1, True)]),
        ({}, [], [("changed", "", {}, [])]),
        ({"a": 1}, {"a": 2}, [("changed", "/a", 1, 2)]),
        ({"a": None}, {}, [("removed", "/a", None, None)]),
        ({}, {"a/b~c": 1}, [("added", "/a~1b~0c", None, 1)]),
        ([1, 2, 3], [1, 9, 2, 3], [("added", "/1", None, 9)]),
        ([1, 2, 3], [1, 3], [("removed", "/1", 2, None)]),
        ([1, 2, 3], [9, 1.0, 2.0, 3.0], [("added", "/0", None, 9)]),
        ([{"x": 1}, {"x": 2}], [{"x": 1}, {"x": 3}], [("changed", "/1/x", 2, 3)]),
        (
            [{"id": 1, "x": 1}],
            [{"id": 0}, {"id": 1, "x": 2}],
            [("added", "/0", None, {"id": 0}), ("changed", "/1/x", 1, 2)],
        ),
        ([{"id": 1}, {"id": 2}], [{"id": 2}], [("removed", "/0", {"id": 1}, None)]),
        ([{"step": "a"}, {"step": "b"}], [{"step": "b"}, {"step": "a"}], [("moved", "/0", 1, 0)]),
        ([{"id": 1}, {"id": 1}], [{"id": 1}], [("removed", "/1", {"id": 1}, None)]),
        (
            [{"id": 1}],
            [{"id": True}],
            [("removed", "/0", {"id": 1}, None), ("added", "/0", None, {"id": True})],
        ),
        ([], [{"id": 1}], [("added", "/0", None, {"id": 1})]),
        ([[1]], [[2]], [("changed", "/0/0", 1, 2)]),
    ],
)
def test_changes_state_their_path_and_kind(
    old: Any, new: Any, expected: list[tuple[str, str, Any, Any]]
) -> None:
    assert changes(old, new) == expected


def test_one_inserted_step_is_one_change() -> None:
    steps = [{"sequence": number, "name": f"step {number}"} for number in range(100)]
    inserted = {"sequence": 1_000, "name": "new"}
    assert json_diff(steps, [*steps[:50], inserted, *steps[50:]]) == (
        JsonChange(path="/50", op="added", new=inserted),
    )
