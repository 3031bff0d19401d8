"""Compares two JSON values: what was added, removed, changed or moved, and where."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from timemachine.core.pure.content import canonical_json
from timemachine.text.pure.difference.align import Block, blocks, increasing

Identity = tuple[bool, Any]
Op = Literal["added", "removed", "changed", "moved"]

# The keys by which list items are matched, in this order, if every item of both lists has a distinct one.
_KEYS: Final = ("id", "sequence", "step", "key", "call_id", "frame")


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonChange:
    """A difference at `path`, a JSON pointer (RFC 6901).

    An index in it refers to the new list, for `removed` to the old one. For `moved`, `old` and `new` are the indexes of
    the item among those that both lists have. For `added` and `removed`, the absent side is None.
    """

    path: str
    op: Op
    old: Any = None
    new: Any = None


def json_diff(old: Any, new: Any) -> tuple[JsonChange, ...]:
    """Return the differences of two JSON values, none exactly if they are equal (1 and 1.0 are the same number).

    List items are matched by a key ("id", "sequence", "step", …), otherwise by the longest run of equal items, so that
    one inserted item is one change. Values must be nested at most `timemachine.core.pure.content.MAX_DEPTH` levels.
    """
    return tuple(_changes("", old, new))


def comparable(value: Any) -> bytes:
    """Return bytes that are the same for two JSON values exactly if `json_diff` finds no difference."""
    return canonical_json(_in_one_spelling(value))


def _in_one_spelling(value: Any) -> Any:
    """Return the value with integral floats as integers: JSON has one kind of number."""
    if isinstance(value, dict):
        return {name: _in_one_spelling(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_in_one_spelling(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _changes(path: str, old: Any, new: Any) -> Iterator[JsonChange]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _in_object(path, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        keys = (key for key in _KEYS if _distinguishes(key, old) and _distinguishes(key, new))
        key = next(keys, None) if old and new else None
        yield from _by_key(path, old, new, key) if key else _by_run(path, old, new)
    elif isinstance(old, bool) != isinstance(new, bool) or old != new:  # true is not 1
        yield JsonChange(path=path, op="changed", old=old, new=new)


def _in_object(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[JsonChange]:
    for name in [*old, *(name for name in new if name not in old)]:
        inner = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
        if name not in new:
            yield JsonChange(path=inner, op="removed", old=old[name])
        elif name not in old:
            yield JsonChange(path=inner, op="added", new=new[name])
        else:
            yield from _changes(inner, old[name], new[name])


def _distinguishes(key: str, items: Sequence[Any]) -> bool:
    if not all(isinstance(item, Mapping) and isinstance(item.get(key), (str, int)) for item in items):
        return False
    return len({_identity(item, key) for item in items}) == len(items)


def _identity(item: Mapping[str, Any], key: str) -> Identity:
    return isinstance(item[key], bool), item[key]


def _by_key(path: str, old: Sequence[Any], new: Sequence[Any], key: str) -> Iterator[JsonChange]:
    before = {_identity(item, key): index for index, item in enumerate(old)}
    after = {_identity(item, key): index for index, item in enumerate(new)}
    moves = _moves([name for name in before if name in after], [name for name in after if name in before])
    for name, index in before.items():
        if name not in after:
            yield JsonChange(path=f"{path}/{index}", op="removed", old=old[index])
    for name, index in after.items():
        inner = f"{path}/{index}"
        if name not in before:
            yield JsonChange(path=inner, op="added", new=new[index])
            continue
        if name in moves:
            yield JsonChange(path=inner, op="moved", old=moves[name][0], new=moves[name][1])
        yield from _changes(inner, old[before[name]], new[index])


def _moves(before: Sequence[Identity], after: Sequence[Identity]) -> dict[Identity, tuple[int, int]]:
    """Return the old and new positions of items, leaving out the largest set that can have stayed."""
    places = {name: place for place, name in enumerate(before)}
    steady = set(increasing([places[name] for name in after]))
    return {name: (places[name], place) for place, name in enumerate(after) if place not in steady}


def _by_run(path: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[JsonChange]:
    ids: dict[bytes, int] = {}
    left = [ids.setdefault(comparable(item), len(ids)) for item in old]
    right = [ids.setdefault(comparable(item), len(ids)) for item in new]
    ends = [Block(0, 0, 0), *blocks(left, right), Block(len(old), len(new), 0)]
    for last, block in pairwise(ends):
        yield from _replaced(
            path, old, new, range(last.old + last.length, block.old), range(last.new + last.length, block.new)
        )


def _replaced(
    path: str, old: Sequence[Any], new: Sequence[Any], removed: range, added: range
) -> Iterator[JsonChange]:
    """Yield the changes of items between two equal ones, compared one by one as far as both lists have some."""
    for before, after in zip(removed, added, strict=False):
        yield from _changes(f"{path}/{after}", old[before], new[after])
    for index in removed[len(added) :]:
        yield JsonChange(path=f"{path}/{index}", op="removed", old=old[index])
    for index in added[len(removed) :]:
        yield JsonChange(path=f"{path}/{index}", op="added", new=new[index])
