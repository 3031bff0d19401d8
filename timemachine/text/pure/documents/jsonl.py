"""Reads JSON Lines as passages: one per line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any, Final

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.text.pure.documents.decoding import decoded
from timemachine.text.pure.documents.passages import MOST_PASSAGES

_NAMED: Final = ("text", "title", "uri")


@dataclass(frozen=True, kw_only=True)
class Record:
    """One line: a passage, whose text may be empty. Fields other than text, title and uri are metadata."""

    line: int
    text: str
    title: str
    uri: str
    metadata: JsonObject


@dataclass(frozen=True, kw_only=True)
class BadLine:
    """A line that is not a passage, and why."""

    line: int
    reason: str


def read_jsonl(data: bytes) -> list[Record | BadLine]:
    """Read every line that is not blank, in order.

    Raises:
        InvalidInput: There are no lines.
        TooLarge: There are more than `MOST_PASSAGES`.
    """
    found = list(islice(_lines(data), MOST_PASSAGES + 1))
    if len(found) > MOST_PASSAGES:
        raise TooLarge(f"This file has more than {MOST_PASSAGES:,} lines; split it.", limit=MOST_PASSAGES)
    if not found:
        raise InvalidInput("This file has no lines.", code="no_text")
    return found


def _lines(data: bytes) -> Iterator[Record | BadLine]:
    for number, line in enumerate(BytesIO(data), start=1):
        if not line.strip():
            continue
        try:
            yield _record(number, parse_json(decoded(line.removesuffix(b"\n"))))
        except InvalidInput as why:
            yield BadLine(line=number, reason=_reason(why))


def _record(number: int, value: Any) -> Record:
    if not isinstance(value, dict):
        raise InvalidInput(
            'It is JSON but not an object; write {"title": "…", "text": "…"}.', code="not_json"
        )
    words = {name: value[name] for name in _NAMED if value.get(name) is not None}
    wrong = next((name for name, word in words.items() if not isinstance(word, str)), None)
    if wrong is not None:
        raise InvalidInput(
            f'"{wrong}" is not text; put it in quotation marks.', code="invalid_field", field=wrong
        )
    if "text" not in words:
        raise InvalidInput('"text" is missing.', code="no_text")
    others = {name: word for name, word in value.items() if name not in _NAMED}
    return Record(
        line=number,
        text=words["text"],
        title=words.get("title", ""),
        uri=words.get("uri", ""),
        metadata=others,
    )


def _reason(why: InvalidInput) -> str:
    cause = why.__cause__
    if isinstance(cause, json.JSONDecodeError):
        return f"It is not JSON: {cause.msg.removesuffix(' at')} at character {cause.pos + 1:,}."
    return why.message
