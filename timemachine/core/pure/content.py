"""Values as bytes, and their hashes. What is stored is exactly what is hashed.

Text is stored as UTF-8; a lone surrogate becomes its three-byte form, so that any text can be stored. Any other
JSON value is stored as compact JSON in UTF-8, with its keys in their original order. SHA-256 is always of these
bytes.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject

MediaType = Literal["text/plain", "application/json", "file"]
MAX_DEPTH = 64
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Bytes with their media type and SHA-256 (lower-case hex)."""

    media_type: MediaType
    data: bytes
    sha256: str


def content_of(value: Any) -> Content:
    """Return the content of a value: text as it is, anything else as JSON. Raises `InvalidInput` if JSON cannot
    represent the value.
    """
    if isinstance(value, str):
        return _content("text/plain", text_bytes(value))
    return _content("application/json", json_bytes(value))


def file_content(data: bytes) -> Content:
    """Return the content of a file."""
    return _content("file", data)


def value_of(media_type: str, data: bytes) -> Any:
    """Return the value that `content_of` was given."""
    text = data.decode("utf-8", "surrogatepass")
    return json.loads(text) if media_type == "application/json" else text


def readable_value(media_type: str, data: bytes) -> Any:
    """Return the same; of bytes that were altered so that they are no text or no JSON, the text that can be read."""
    try:
        return value_of(media_type, data)
    except ValueError:
        return data.decode("utf-8", "replace")


def text_bytes(text: str) -> bytes:
    """Encode text as UTF-8, with a lone surrogate in its three-byte form."""
    return text.encode("utf-8", "surrogatepass")


def json_bytes(value: Any) -> bytes:
    """Encode a value as compact JSON in UTF-8. Raises `InvalidInput` if JSON cannot represent the value."""
    try:
        written = _encode(value)
    except (TypeError, ValueError) as why:
        raise InvalidInput(f"This value cannot be written as JSON: {why}.", code="not_json") from why
    return text_bytes(written)


def canonical_json(value: Any) -> bytes:
    """Encode a value as JSON with sorted keys: for comparisons and cache keys, not for storing client data."""
    return json.dumps(
        value, ensure_ascii=True, separators=(",", ":"), sort_keys=True, allow_nan=False
    ).encode()


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of the bytes in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def text_sha256(text: str) -> str:
    """Return the SHA-256 of the text's UTF-8 bytes in lower-case hex. It is the hash of a frame."""
    return sha256_hex(text_bytes(text))


def parse_json(data: bytes | str, *, deepest: int = MAX_DEPTH) -> Any:
    """Parse JSON strictly: no NaN, no number beyond a double, no duplicate key, limited depth. Raises `InvalidInput`,
    which says what is wrong and where.
    """
    try:
        value = json.loads(
            data, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=finite
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as why:
        raise InvalidInput(f"This is not JSON: {why}.", code="not_json") from why
    except ValueError as why:  # Python's limit on the length of an integer
        raise InvalidInput("This JSON has an integer of more than 4,300 digits.", code="not_json") from why
    except RecursionError as why:
        raise InvalidInput(f"This JSON is nested deeper than {deepest} levels.", code="too_deep") from why
    check_depth(value, deepest)
    return value


def check_depth(value: Any, limit: int = MAX_DEPTH) -> None:
    """Check how deep lists and objects are nested. Raises `InvalidInput` if they are nested deeper than the limit."""
    level = [value]
    for _ in range(limit + 1):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise InvalidInput(f"This JSON is nested deeper than {limit} levels.", code="too_deep", limit=limit)


def _content(media_type: MediaType, data: bytes) -> Content:
    return Content(media_type=media_type, data=data, sha256=sha256_hex(data))


def _inside(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return list(value.values()) if isinstance(value, dict) else []


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        first = {name: at for at, (name, _) in reversed([*enumerate(pairs)])}
        twice = next(name for at, (name, _) in enumerate(pairs) if first[name] != at)
        raise InvalidInput(f"Duplicate JSON key {twice[:200]!r}; send it once.", code="not_json")
    return found


def _refuse_constant(name: str) -> Any:
    raise InvalidInput(f"{name} is not JSON; send null or a number.", code="not_json")


def finite(written: str) -> float:
    """Parse a JSON number. Raises `InvalidInput` if the number is too large for a double."""
    number = float(written)
    if number in (float("inf"), float("-inf")):
        raise InvalidInput(f"The number {written} is larger than a double can hold.", code="not_json")
    return number
