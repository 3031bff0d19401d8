"""A lossless encoding of any Python text as text that PostgreSQL can store.

PostgreSQL refuses U+0000 in `text` and `jsonb`, and UTF-8 has no lone surrogates. Recordings contain both. They are
written with an escape character (U+FFFF, a noncharacter):

    U+FFFF  →  U+FFFF "f"        U+0000  →  U+FFFF "0"        U+D8xx…U+DFxx  →  U+FFFF "s" and its four hex digits
"""

import json
import re
from typing import Any

ESCAPE = "\uffff"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff\uffff]")
_REFUSED = re.compile("[\x00\ud800-\udfff]")
_ESCAPED = re.compile("\uffff(f|0|s[0-9a-f]{4})")
_NUL_IN_JSON = r"\u0000"


def storable(text: str) -> str:
    """Encode the text in a form that PostgreSQL accepts. `original` is the inverse."""
    return text if _UNSTORABLE.search(text) is None else _UNSTORABLE.sub(_escape, text)


def original(stored: str) -> str:
    """Return the text that `storable` was given."""
    return _ESCAPED.sub(_unescape, stored) if ESCAPE in stored else stored


def is_plain(text: str) -> bool:
    """Return whether PostgreSQL accepts the text as it is. Columns without the encoding hold only such text."""
    return _REFUSED.search(text) is None


def storable_json(value: Any) -> Any:
    """Encode every string in a JSON value, keys included."""
    return value if _is_plain_json(value) else _map_strings(value, storable)


def original_json(value: Any) -> Any:
    """Return the JSON value that `storable_json` was given."""
    return _map_strings(value, original)


def searchable(text: str) -> str:
    """Return the text for a search index, with U+FFFD for each character that cannot be stored."""
    return _UNSTORABLE.sub("\ufffd", text)


def _is_plain_json(value: Any) -> bool:
    """Return whether no string in a JSON value needs a change. Serializing it is faster than walking it."""
    if not isinstance(value, dict | list):
        return False
    written = json.dumps(value, ensure_ascii=False)
    return _NUL_IN_JSON not in written and _UNSTORABLE.search(written) is None


def _map_strings(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_strings(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _map_strings(item, change) for key, item in value.items()}
    return value


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character == ESCAPE:
        return ESCAPE + "f"
    if character == "\x00":
        return ESCAPE + "0"
    return f"{ESCAPE}s{ord(character):04x}"


def _unescape(match: re.Match[str]) -> str:
    mark = match.group(1)
    if mark == "f":
        return ESCAPE
    if mark == "0":
        return "\x00"
    return chr(int(mark[1:], 16))
