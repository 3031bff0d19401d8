"""Read a file that is one JSON document in UTF-8, or refuse it with a reason."""

import json
from typing import Any, Final

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.recording.importing.pure.jsonl import Line, check_lines, lines_of
from timemachine.recording.importing.pure.mapped_bytes import Contents, count_in
from timemachine.recording.importing.pure.report import Skipped
from timemachine.recording.importing.pure.session_builder import unreadable_file
from timemachine.recording.importing.pure.values import list_at

MOST_VALUES: Final = 20_000_000
"""Maximum number of JSON values per file: an empty list has two bytes but takes sixty in memory."""


def document_of(data: Contents, title: str) -> Any:
    """Return the JSON document.

    Raises `InvalidInput` (`unknown_format`) with the place and the reason if it cannot be read, and `TooLarge`.
    """
    check_values(values_in(data))
    try:
        return parse_json(data[:].decode("utf-8-sig"))
    except UnicodeDecodeError as why:
        raise unreadable_file(title, f"it is not UTF-8 text: byte {why.start + 1} cannot be read.") from why
    except InvalidInput as why:
        raise unreadable_file(title, reason(why)) from why


def values_in(data: Contents) -> int:
    """Return an upper bound for the number of JSON values; commas and brackets inside texts are counted too."""
    return sum(count_in(data, sign) for sign in (b",", b"[", b"{"))


def check_values(values: int) -> None:
    """Raise `TooLarge` for a file that would take far more memory than its size."""
    if values > MOST_VALUES:
        raise TooLarge(
            f"The file has {values:,} JSON values; the maximum is {MOST_VALUES:,}. Split it.",
            limit=MOST_VALUES,
        )


def reason(why: InvalidInput) -> str:
    """Return what is wrong with a JSON text, as the end of a sentence."""
    cause = why.__cause__
    if isinstance(cause, json.JSONDecodeError):
        where = f"line {cause.lineno}, character {cause.colno}"
        return f"it is cut off or not JSON: {cause.msg.removesuffix(' at')} at {where}."
    return why.message


def records_of(data: Contents, title: str, *, inside: str | None = None) -> list[Line | Skipped]:
    """Return the objects of a file: a JSON list, JSON lines, an object with the list under `inside`, or a single object.

    They are numbered from 1. Raises `InvalidInput` (`unknown_format`) for any other file.
    """
    try:
        value = document_of(data, title)
    except InvalidInput:
        found = list(lines_of(data))
        if any(isinstance(each, Line) for each in found[:2]):
            return found
        raise
    held = list_at(value, inside or "")
    if isinstance(value, dict):
        value = held or [value]
    if not isinstance(value, list) or not value:
        raise unreadable_file(title, "it is JSON but not a list of records.")
    check_lines(len(value))
    return [_record(number, each) for number, each in enumerate(value, start=1)]


def _record(number: int, value: Any) -> Line | Skipped:
    if isinstance(value, dict):
        return Line(number=number, record=value, digest="")
    return Skipped(line=number, reason="It is not an object.")
