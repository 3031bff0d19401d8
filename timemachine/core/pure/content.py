"""Values as bytes and their hashes: what is stored is exactly what is hashed.

A text is its UTF-8 bytes (a lone surrogate as its three-byte form, so that no text is refused); any other JSON value is
compact JSON in UTF-8 with its keys in the order they came. `SHA-256` is always over those bytes.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from timemachine.core.pure.errors import InvalidInput

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
    """The bytes of a value: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return _content("text/plain", text_bytes(value))
    return _content("application/json", json_bytes(value))


def file_content(data: bytes) -> Content:
    """The bytes of a file, whatever they mean."""
    return _content("file", data)


def value_of(media_type: str, data: bytes) -> Any:
    """The value that `content_of` was given."""
    text = data.decode("utf-8", "surrogatepass")
    return json.loads(text) if media_type == "application/json" else text


def text_bytes(text: str) -> bytes:
    """The UTF-8 bytes of a text; a lone surrogate as its three-byte form."""
    return text.encode("utf-8", "surrogatepass")


def json_bytes(value: Any) -> bytes:
    """Compact JSON in UTF-8; a value that JSON cannot hold raises `InvalidInput`."""
    try:
        written = _encode(value)
    except (TypeError, ValueError) as why:
        raise InvalidInput(f"This value cannot be written as JSON: {why}.", code="not_json") from why
    return text_bytes(written)


def canonical_json(value: Any) -> bytes:
    """JSON with sorted keys, for comparing and for keys of caches; not for storing what somebody sent."""
    return json.dumps(
        value, ensure_ascii=True, separators=(",", ":"), sort_keys=True, allow_nan=False
    ).encode()


def sha256_hex(data: bytes) -> str:
    """SHA-256 of the bytes, in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def text_sha256(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, in lower-case hex: the hash of a frame."""
    return sha256_hex(text_bytes(text))


def parse_json(data: bytes | str, *, deepest: int = MAX_DEPTH) -> Any:
    """A JSON document, strictly: no NaN, no number beyond a double, no key twice, at most so many levels deep.

    Raises `InvalidInput` with what is wrong and where.
    """
    try:
        value = json.loads(
            data, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=finite
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as why:
        raise InvalidInput(f"This is not JSON: {why}.", code="not_json") from why
    except ValueError as why:  # what Python says of an integer that is too long to read
        raise InvalidInput("It holds a whole number of more than 4,300 digits.", code="not_json") from why
    except RecursionError as why:
        raise InvalidInput(f"This JSON is nested deeper than {deepest} levels.", code="too_deep") from why
    check_depth(value, deepest)
    return value


def check_depth(value: Any, limit: int = MAX_DEPTH) -> None:
    """Raise `InvalidInput` where lists and objects nest deeper than the limit."""
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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        first = {name: at for at, (name, _) in reversed([*enumerate(pairs)])}
        twice = next(name for at, (name, _) in enumerate(pairs) if first[name] != at)
        raise InvalidInput(f"A JSON object has the key {twice[:200]!r} twice; send it once.", code="not_json")
    return found


def _refuse_constant(name: str) -> Any:
    raise InvalidInput(f"{name} is not JSON; send null or a number.", code="not_json")


def finite(written: str) -> float:
    """The number, for a reader of JSON. Raises `InvalidInput` for one that no double can hold."""
    number = float(written)
    if number in (float("inf"), float("-inf")):
        raise InvalidInput(f"The number {written} is larger than a double can hold.", code="not_json")
    return number
