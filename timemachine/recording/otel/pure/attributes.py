"""Read the attributes of a span: the first of several names, JSON in texts, lists flattened into names, and our own
attributes."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.content import MAX_DEPTH, check_depth, finite
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.sessions.pure.validation import MOST_TOKENS

DEEPEST: Final = MAX_DEPTH - 4
"""The value will be nested inside others."""
LONGEST_PLACE: Final = 9
_EMPTY: Final[tuple[Any, ...]] = ("", [], {})
CACHED: Final = "timemachine.cached"
SAVED: Final = "timemachine.saved_usd"
COPIED: Final = "timemachine.copied_from"
NOT_RECORDED: Final = "timemachine.not_recorded"
"""Lists which of `started_at` and `duration_ms` the action did not have, because a span always has both."""
_DIGITS: Final = 12
_MAX_SAVED: Final = 1e9
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,2})?")


class Attributes:
    """The attributes of one span. Each method takes several names and uses the first that is present."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def first(self, *names: str) -> Any:
        """Return the value of the first name that is present and not empty."""
        if self.values.keys().isdisjoint(names):  # most names are absent, and this loop is the quicker one
            return None
        for name in names:
            found = self.values.get(name)
            if found is not None and found not in _EMPTY:
                return found
        return None

    def text(self, *names: str) -> str | None:
        """Return the first value if it is a text or a number, as text."""
        found = self.first(*names)
        return str(found) if isinstance(found, str | int | float) and not isinstance(found, bool) else None

    def whole_number(self, *names: str) -> int | None:
        """Return the first number if it is a whole number from 0 to 10¹²."""
        found = self.number(*names)
        return int(found) if found is not None and 0 <= found <= MOST_TOKENS and found == int(found) else None

    def number(self, *names: str) -> float | int | None:
        """Return the first number under the names, 0 included. Some senders write numbers as texts."""
        if self.values.keys().isdisjoint(names):
            return None
        for name in names:
            found = self.values.get(name)
            if isinstance(found, int | float) and not isinstance(found, bool):
                return found
            if isinstance(found, str) and _NUMBER.fullmatch(found):
                return int(found) if found.isdecimal() else float(found)
        return None

    def value(self, *names: str) -> Any:
        """Return the first value, with a JSON object or list in a text parsed."""
        return parsed_json(self.first(*names))

    def listed(self, prefix: str) -> list[Any]:
        """Return the list whose parts are separate attributes: `prefix.0.message.role`, `prefix.1.message.role`.

        Numbers in names are places; gaps close.
        """
        built = _built(self.nested(prefix))
        return built if isinstance(built, list) else []

    def nested(self, prefix: str) -> JsonObject:
        """Return the object whose parts are separate attributes: `prefix.one`, `prefix.other.part`."""
        tree: JsonObject = {}
        start = prefix + "."
        for name, found in self.values.items():
            if name.startswith(start):
                _insert(tree, name[len(start) :].split(".")[:MAX_DEPTH], found)
        return tree


def was_recorded(attributes: Attributes, name: str) -> bool:
    """Return whether a time of the span was recorded, as opposed to filled in by our export."""
    return name not in (attributes.text(NOT_RECORDED) or "").split(",")


def cached_of(attributes: Attributes) -> bool | None:
    """Return whether the answer came from the cache; None if not recorded."""
    found = attributes.first(CACHED)
    return found if isinstance(found, bool) else None


def saved_of(attributes: Attributes) -> Decimal | None:
    """Return the US dollars that the cache saved; None if not recorded."""
    found = attributes.number(SAVED)
    return None if found is None or not 0 <= found < _MAX_SAVED else round(Decimal(repr(found)), _DIGITS)


def parsed_json(value: Any) -> Any:
    """Return a JSON object or list in a text parsed; everything else as it is."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        found = json.loads(value, parse_constant=_refuse, parse_float=finite)
        if value.count("[") + value.count("{") > DEEPEST:
            check_depth(found, DEEPEST)
    except (ValueError, RecursionError, InvalidInput):
        return value
    return found


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _insert(tree: JsonObject, names: list[str], found: Any) -> None:
    for name in names[:-1]:
        below = tree.setdefault(name, {})
        if not isinstance(below, dict):
            return  # a name that is both a value and a branch: the value stays
        tree = below
    tree.setdefault(names[-1], found)


def _built(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(name.isdecimal() and len(name) <= LONGEST_PLACE for name in tree):
        return [_built(tree[name]) for name in sorted(tree, key=int)]
    return {name: _built(below) for name, below in tree.items()}
