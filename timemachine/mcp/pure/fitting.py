"""Make a document fit into a number of tokens: fewer items, and only the beginnings of long texts."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.mcp.pure.tokens import size

MORE: Final = "…"
"""What a text ends with if only its beginning is given."""
CUT: Final = "cut"
"""The field that is true in an item with such a text."""
_WHOLE: Final = frozenset({"notice", "next", "session", "step", "kind", CUT})
"""Fields that are of no use if they are cut."""
_LONGEST_TOKEN: Final = 3
"""Characters of a token at most, as `tokens` counts them."""
_SHARE: Final = 4
"""One item takes at most a quarter of the answer, so that a long one does not displace all others."""
_LONE: Final = re.compile("[\ud800-\udfff]")


def filled[Item: JsonObject](
    build: Callable[[list[JsonObject]], JsonObject], items: Sequence[Item], limit: int
) -> JsonObject:
    """Return what `build` makes of as many items, from the first one on, as fit into the limit; at least of one, if there is one.

    `build` adds the `next` of the items that are left out.
    """
    room = limit - size(build([]))
    kept: list[JsonObject] = []
    for item in items:
        fitting = shortened(item, limit // _SHARE)
        room -= size(fitting) + 1
        if room < 0 and kept:
            break
        kept.append(fitting)
    found = build(kept)
    while size(found) > limit and len(kept) > 1:
        kept.pop()
        found = build(kept)
    return shortened(found, limit)


def shortened(item: JsonObject, limit: int) -> JsonObject:
    """Return the item with its longest texts and lists cut so that it fits into the limit, marked as `cut`; as it is if it fits."""
    if size(item) <= limit:
        return item
    low, high = 1, limit
    while low < high:
        middle = (low + high + 1) // 2
        if size(_capped(item, middle)) <= limit:
            low = middle
        else:
            high = middle - 1
    return _capped(item, low)


def beginning(text: str, limit: int) -> str:
    """Return the longest beginning of a text that fits into the limit as a JSON string."""
    low, high = 0, min(len(text), limit * _LONGEST_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if size(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def shares(wanted: Sequence[int], limit: int) -> list[int]:
    """Return how much of the limit each of several parts gets: small parts all they want, the others equal shares of the rest."""
    given, left = [0] * len(wanted), limit
    for place, index in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        given[index] = min(wanted[index], left // (len(wanted) - place))
        left -= given[index]
    return given


def readable(value: Any) -> Any:
    """Return the value without lone surrogates, which UTF-8 cannot represent."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, list):
        return [readable(each) for each in value]
    if isinstance(value, dict):
        return {readable(name): readable(each) for name, each in value.items()}
    return value


def _capped(item: JsonObject, cap: int) -> JsonObject:
    found = {name: each if name in _WHOLE else _cut(each, cap) for name, each in item.items()}
    return {**found, CUT: True}


def _cut(value: Any, cap: int) -> Any:
    if isinstance(value, str):
        start = beginning(value, cap)
        return value if len(start) == len(value) else start + MORE
    if isinstance(value, list):
        return [_cut(each, cap) for each in value[:cap]]
    if isinstance(value, dict):
        return {name: each if name in _WHOLE else _cut(each, cap) for name, each in value.items()}
    return value
