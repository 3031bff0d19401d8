"""A session that is being written out: what is said of it, and its actions one after the other. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An action as a document, and which action it is under: the sequence and the client id of that one."""

    action: dict[str, Any]
    parent: tuple[int, str | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """`about` is what the first line of our own format says; `steps` can be gone through once, in order, and are not held."""

    about: dict[str, Any]
    steps: Iterator[Step]


def line_of(value: Any) -> bytes:
    """Compact JSON on one line. Where a text holds half a surrogate, which UTF-8 cannot say, all that is not ASCII is escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def text_of(value: Any) -> str:
    """A text as it is, another value as JSON, nothing as an empty text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
