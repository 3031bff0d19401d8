"""Snapshots of values: any JSON is stored unchanged, and anything else becomes JSON."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from timemachine.client.recording.snapshot import DEEPEST, frozen, thawed, written

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
ODD = st.recursive(
    PLAIN
    | st.binary()
    | st.floats()
    | st.complex_numbers()
    | st.dates()
    | st.uuids()
    | st.builds(object)
    | st.just(len),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.integers() | st.text() | st.none() | st.booleans(), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=10,
)


def snapshot_of(value: Any) -> Any:
    return written(thawed(frozen(value)))


@given(PLAIN)
def test_json_values_round_trip(value: Any) -> None:
    assert snapshot_of(value) == value


@given(ODD)
def test_any_value_becomes_json_that_does_not_change(value: Any) -> None:
    once = snapshot_of(value)
    assert json.loads(json.dumps(once, allow_nan=False)) == once
    assert snapshot_of(once) == once


def test_cyclic_and_deep_values_are_cut_off() -> None:
    itself: list[Any] = []
    itself.append(itself)
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    for value in (itself, deep, {"a": itself}):
        json.dumps(snapshot_of({"output": value}))
    assert snapshot_of([1] * 3) == [1, 1, 1]
    level: Any = snapshot_of(itself)
    for _ in range(DEEPEST):
        level = level[0] if isinstance(level, list) else level
    assert isinstance(level, str)


class Hostile:
    """An object that raises at every attribute access."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError


def test_an_object_that_always_raises_is_recorded_by_its_type() -> None:
    assert snapshot_of({"a": Hostile(), "b": 1})["b"] == 1
