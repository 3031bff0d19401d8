"""Reading a span's attributes: the first name that is there, JSON in a text, lists that were flattened into names. Pure."""

import json
from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.pure.content import MAX_DEPTH, check_depth, finite
from timemachine.core.pure.errors import InvalidInput

DEEPEST: Final = MAX_DEPTH - 4
"""It will stand inside of others."""
LONGEST_PLACE: Final = 9
_EMPTY: Final[tuple[Any, ...]] = ("", [], {})


class Attributes:
    """The attributes of one span, as the conventions name them; of several names the first that is there counts."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.found = found

    def first(self, *names: str) -> Any:
        """The value of the first name that is there and not empty."""
        for name in names:
            found = self.found.get(name)
            if found is not None and found not in _EMPTY:
                return found
        return None

    def text(self, *names: str) -> str | None:
        """The same, where it is a text or a number."""
        found = self.first(*names)
        return str(found) if isinstance(found, str | int | float) and not isinstance(found, bool) else None

    def whole(self, *names: str) -> int | None:
        """The same, where it is a whole number of 0 or more."""
        found = self.first_number(*names)
        return int(found) if found is not None and found >= 0 and found == int(found) else None

    def first_number(self, *names: str) -> float | int | None:
        """The first name that holds a number, 0 included."""
        for name in names:
            found = self.found.get(name)
            if isinstance(found, int | float) and not isinstance(found, bool):
                return found
        return None

    def value(self, *names: str) -> Any:
        """The same as a JSON value: a text that holds a JSON object or list is read."""
        return parsed(self.first(*names))

    def listed(self, prefix: str) -> list[Any]:
        """The list whose parts are attributes of their own: `prefix.0.message.role`, `prefix.1.message.role`.

        Names that are numbers stand for places; gaps close.
        """
        tree: dict[str, Any] = {}
        start = prefix + "."
        for name, found in self.found.items():
            if name.startswith(start):
                _hang(tree, name[len(start) :].split(".")[:MAX_DEPTH], found)
        built = _built(tree)
        return built if isinstance(built, list) else []


def parsed(value: Any) -> Any:
    """A text that holds a JSON object or list as that; everything else as it is."""
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


def _hang(tree: dict[str, Any], names: list[str], found: Any) -> None:
    for name in names[:-1]:
        below = tree.setdefault(name, {})
        if not isinstance(below, dict):
            return  # a name that is a value and a branch at once: the value stays
        tree = below
    tree.setdefault(names[-1], found)


def _built(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(name.isdecimal() and len(name) <= LONGEST_PLACE for name in tree):
        return [_built(tree[name]) for name in sorted(tree, key=int)]
    return {name: _built(below) for name, below in tree.items()}
