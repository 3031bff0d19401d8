"""Extract the searchable text of a payload. Pure.

From JSON, the strings and numbers that are values are taken in order; field names are not. Only the beginning
of a payload is read, so JSON is read token by token and may end anywhere.
"""

import json
import re
from typing import Final

from timemachine.core.pure.postgres_text import searchable

LONGEST: Final = 256 * 1024
"""How many bytes of a payload are searchable."""

_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_REPLACED: Final = "\ufffd".encode()
"""A lone surrogate becomes one replacement character, as in labels and questions, and not one for each of its bytes."""
_TOKEN: Final = re.compile(r'"((?:[^"\\]++|\\.)*+)(?:"(:?)|\\?\Z)|(-?\d[\d.eE+-]*+)', re.DOTALL)
_MARKUP: Final = str.maketrans("<>", "  ")
_BROKEN_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")


def text_of(media_type: str, head: bytes) -> str:
    """Return the searchable text of a payload that begins with these bytes, in a form that Postgres accepts."""
    written = _SURROGATE.sub(_REPLACED, head).decode("utf-8", "replace")
    return searchable(_values(written) if media_type == "application/json" else written)


def unmarked(text: str) -> str:
    """Return the text without markup characters, so that text inside tags and scripts is searchable, too."""
    return text.translate(_MARKUP)


def _values(written: str) -> str:
    found = []
    for token in _TOKEN.finditer(written):
        text, is_name, number = token.groups()
        if number is not None:
            found.append(number)
        elif text and not is_name:
            found.append(_unescaped(text))
    return "\n".join(found)


def _unescaped(text: str) -> str:
    """Return the text of a JSON string; an escape that is cut off at the end is dropped."""
    if "\\" not in text:
        return text
    try:
        whole: str = json.loads(f'"{text}"', strict=False)
    except ValueError:
        whole = json.loads(f'"{_BROKEN_ESCAPE.sub("", text)}"', strict=False)
    return whole
