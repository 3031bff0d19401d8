"""The text by which a payload is found. Pure.

Of JSON it is the strings and numbers that are values, in their order; names of fields are not what anybody said. Only the beginning
of a payload is looked at, so JSON is read token by token and may end anywhere.
"""

import json
import re
from typing import Final

from timemachine.core.pure.postgres_text import searchable

LONGEST: Final = 256 * 1024
"""How many bytes of a payload are searched: its first ones."""

_TOKEN: Final = re.compile(r'"((?:[^"\\]++|\\.)*+)(?:"(:?)|\\?\Z)|(-?\d[\d.eE+-]*+)', re.DOTALL)
_MARKUP: Final = str.maketrans("<>", "  ")
_BROKEN_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")


def text_of(media_type: str, head: bytes) -> str:
    """What is searched of a payload that begins so, in a form that Postgres takes."""
    written = head.decode("utf-8", "replace")
    return searchable(_values(written) if media_type == "application/json" else written)


def unmarked(text: str) -> str:
    """The text without signs that make markup: what stands in tags and scripts is searched, too."""
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
    """The text that a JSON string stands for; what is cut in the middle of an escape loses that."""
    if "\\" not in text:
        return text
    try:
        whole: str = json.loads(f'"{text}"', strict=False)
    except ValueError:
        whole = json.loads(f'"{_BROKEN_ESCAPE.sub("", text)}"', strict=False)
    return whole
