"""The export formats, one module each, with `NAME`, `TITLE`, `ENDING`, `MEDIA_TYPE` and `parts(session)`, and the session that
they write."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from timemachine.core.pure.json_types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An action as a document, and the sequence and client id of its parent."""

    action: JsonObject
    parent: tuple[int, str | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """`about` is the first line of our own format. `steps` can be iterated once, in order; they are not held in memory."""

    about: JsonObject
    steps: Iterator[Step]


def line_of(value: Any) -> bytes:
    """Return compact JSON on one line. If a text has a lone surrogate, which UTF-8 cannot encode, non-ASCII is escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def text_of(value: Any) -> str:
    """Return a text as it is, None as an empty text, and any other value as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
