"""JSON of which perhaps only the beginning is known."""

import json
import re
from typing import Any, Final

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],]', re.DOTALL)
_HALF_ESCAPE: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z")
_CLOSES: Final = {"{": "}", "[": "]"}
_INDENT: Final = "  "
_DEEPEST: Final = 40
"""Levels that are indented: the indentation of all lines together grows with the square of the depth."""
_AFTER: Final = {":": " "}
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)


class Number(str):
    """A number as it was written, so that nothing is rounded."""

    __slots__ = ()


class Unreadable(ValueError):
    """The text is not JSON, or is nested too deeply."""


def read(text: str, *, cut: bool = False) -> Any:
    """Return the value of JSON. If it was cut, this is what its beginning says: a string that was cut ends where it does.

    Numbers are `Number`, in the way they were written.

    Raises:
        Unreadable: The text is no JSON.
    """
    try:
        return json.loads(text, parse_float=Number, parse_int=Number)
    except (ValueError, RecursionError) as why:
        if not cut:
            raise Unreadable from why
    for each in _completed(text):
        try:
            return json.loads(each, parse_float=Number, parse_int=Number)
        except (ValueError, RecursionError):
            continue
    raise Unreadable


def _completed(text: str) -> tuple[str, ...]:
    """Return the text with everything open closed, and the same after the last whole value."""
    closing: list[str] = []
    closed: list[str] = []  # since the last place where a value begins or ends
    place, last = 0, ""
    for found in _TOKEN.finditer(text):
        last = found[0]
        if last in _CLOSES:
            closing.append(_CLOSES[last])
            place, closed = found.end(), []
        elif last == ",":
            place, closed = found.start(), []
        elif closing and last == closing[-1]:
            closed.append(closing.pop())
    whole = text[:place] + "".join(closed) + "".join(reversed(closing))
    if last.startswith('"') and text.endswith(last) and not _is_closed(last):
        text = _HALF_ESCAPE.sub(r"\1", text) + '"'
    return text + "".join(reversed(closing)), whole


def _is_closed(string: str) -> bool:
    try:
        json.loads(string)
    except ValueError:
        return False
    return True


def indented(text: str) -> str:
    """Return JSON text with line breaks and indentation added and no other character changed. Also works on truncated JSON."""
    written: list[str] = []
    depth, opened = 0, False
    for piece in _PIECE.findall(text):
        closes = piece in ("}", "]")
        depth -= closes
        line = "\n" + _INDENT * min(depth, _DEEPEST)
        if opened != closes:
            written.append(line)
        opened = piece in _CLOSES
        depth += opened
        written.append(piece + _AFTER.get(piece, "") + (line if piece == "," else ""))
    return "".join(written)
