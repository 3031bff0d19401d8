"""Lay out a recorded payload for reading: text as it is, JSON as a list of fields, long JSON indented. Pure."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

MOST_LEAVES: Final = 200
_INDENT: Final = "  "
_OPENING: Final = frozenset("{[")
_CLOSING: Final = frozenset("}]")
_AFTER: Final = {":": " "}
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One value in JSON: its path (`content[0].text`) and its text. A `literal` is a number, true, false or null."""

    path: str
    text: str
    literal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The layout of a payload: either `text`, or the leaves of JSON. `json` is true for JSON text."""

    text: str = ""
    leaves: Sequence[Leaf] = ()
    json: bool = False


class _Literal(str):
    """A number as it was written, so that nothing is rounded."""

    __slots__ = ()


def body(media_type: str, text: str, *, cut: bool) -> Body:
    """Return the layout of a payload's text. Truncated JSON is only indented."""
    if media_type != "application/json":
        return Body(text=text)
    found = None if cut else _leaves(text)
    return Body(text=indented(text), json=True) if found is None else Body(leaves=found, json=True)


def indented(text: str) -> str:
    """Return JSON text with line breaks and indentation added and no other character changed. Also works on truncated JSON."""
    written: list[str] = []
    depth, opened = 0, False
    for piece in _TOKEN.findall(text):
        closes = piece in _CLOSING
        depth -= closes
        if opened != closes:
            written.append("\n" + _INDENT * depth)
        opened = piece in _OPENING
        depth += opened
        written.append(piece + _AFTER.get(piece, "") + ("\n" + _INDENT * depth if piece == "," else ""))
    return "".join(written)


def _leaves(text: str) -> list[Leaf] | None:
    """Return the leaves of a JSON document, or None if there are too many to read one by one."""
    value = json.loads(text, parse_float=_Literal, parse_int=_Literal)
    found: list[Leaf] = []
    for leaf in _walk(value, ""):
        if len(found) == MOST_LEAVES:
            return None
        found.append(leaf)
    return found


def _walk(value: Any, path: str) -> Iterator[Leaf]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _walk(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from _walk(inner, f"{path}[{place}]")
    elif isinstance(value, str) and not isinstance(value, _Literal):
        yield Leaf(path=path, text=value)
    else:
        text = str(value) if isinstance(value, _Literal) else json.dumps(value)
        yield Leaf(path=path, text=text, literal=True)
