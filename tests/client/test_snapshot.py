"""A value is kept as it was: any JSON comes back equal, and anything at all becomes JSON."""

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


def kept(value: Any) -> Any:
    return written(thawed(frozen(value)))


@given(PLAIN)
def test_json_comes_back_equal(value: Any) -> None:
    assert kept(value) == value


@given(ODD)
def test_anything_becomes_json_and_stays_what_it_became(value: Any) -> None:
    once = kept(value)
    assert json.loads(json.dumps(once, allow_nan=False)) == once
    assert kept(once) == once


def test_what_holds_itself_or_is_deep_ends_somewhere() -> None:
    itself: list[Any] = []
    itself.append(itself)
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    for value in (itself, deep, {"a": itself}):
        json.dumps(kept({"output": value}))
    assert kept([1] * 3) == [1, 1, 1]
    level: Any = kept(itself)
    for _ in range(DEEPEST):
        level = level[0] if isinstance(level, list) else level
    assert isinstance(level, str)


class Hostile:
    """An object that answers every question with an error."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError


def test_an_object_that_only_raises_is_kept_by_its_type_and_takes_nothing_with_it() -> None:
    assert kept({"a": Hostile(), "b": 1})["b"] == 1
