"""The content of a file: bytes in memory or in a memory-mapped file, read as they are or as JSON lines.

A bad line is skipped and affects no other line.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from mmap import mmap
from typing import Final

from timemachine.core.pure.content import MAX_DEPTH, parse_json, text_sha256
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.report import LineSkipped

type Contents = bytes | mmap
"""Both have a length, and slices that are bytes."""
_PIECE: Final = 4 * 1024 * 1024
MOST_LINES: Final = 1_000_000
"""Maximum number of lines: each unusable line is listed in the report and takes more memory than its bytes."""
_BLANK = " \t\r"


def pieces_of(data: Contents, size: int = _PIECE) -> Iterator[bytes]:
    """Yield the content in pieces of `size` bytes."""
    return (data[start : start + size] for start in range(0, len(data), size))


def count_in(data: Contents, sign: bytes) -> int:
    """Return how often a single byte occurs."""
    return sum(piece.count(sign) for piece in pieces_of(data))


def raw_lines(data: Contents) -> Iterator[bytes]:
    """Yield the lines with their line ends, each read on demand."""
    if isinstance(data, bytes):
        return iter(BytesIO(data))
    data.seek(0)
    return iter(data.readline, b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A JSON object and its line number, from 1. `digest` is the SHA-256 of the line without surrounding blanks."""

    number: int
    record: JsonObject
    digest: str


def lines_of(data: Contents, *, deepest: int = MAX_DEPTH) -> Iterator[Line | LineSkipped]:
    """Yield every line in order, as its object or as the reason why it is skipped.

    Lines end with LF or CRLF; a byte order mark is ignored. Blank lines are numbered but not yielded.

    Raises `TooLarge` for more than `MOST_LINES` lines.
    """
    check_lines(count_in(data, b"\n"))
    for number, raw in enumerate(raw_lines(data), start=1):
        try:
            text = raw.removesuffix(b"\n").decode("utf-8-sig").strip(_BLANK)
        except UnicodeDecodeError as why:
            yield LineSkipped.model_construct(
                line=number, reason=f"It is not UTF-8 text: byte {why.start + 1} is invalid."
            )
            continue
        if text:
            yield _line(number, text, deepest)


def check_lines(lines: int) -> None:
    """Raise `TooLarge` for more lines or records than a report can account for."""
    if lines > MOST_LINES:
        raise TooLarge(
            f"The file has {lines:,} lines or records; the maximum is {MOST_LINES:,}. Split it.",
            limit=MOST_LINES,
        )


def _line(number: int, text: str, deepest: int) -> Line | LineSkipped:
    try:
        record = parse_json(text, deepest=deepest)
    except InvalidInput as why:
        return LineSkipped.model_construct(line=number, reason=_reason(why))
    if not isinstance(record, dict):
        return LineSkipped.model_construct(line=number, reason="It is JSON but not an object.")
    return Line(number=number, record=record, digest=text_sha256(text))


def _reason(error: InvalidInput) -> str:
    cause = error.__cause__
    if isinstance(cause, json.JSONDecodeError):
        return f"It is truncated or not JSON: {cause.msg.removesuffix(' at')} at character {cause.pos + 1}."
    return error.message
