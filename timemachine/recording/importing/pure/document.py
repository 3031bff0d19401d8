"""A file that is one JSON document: UTF-8, whole, or refused with a reason. Pure."""

import json
from typing import Any, Final

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.recording.importing.pure.jsonl import Line, check_lines, lines_of
from timemachine.recording.importing.pure.mapped_bytes import Contents, count_in
from timemachine.recording.importing.pure.report import Skipped
from timemachine.recording.importing.pure.session_builder import hopeless
from timemachine.recording.importing.pure.values import list_at

MOST_VALUES: Final = 20_000_000
"""Of one file: an empty list has two bytes and takes sixty in memory."""


def document_of(data: Contents, title: str) -> Any:
    """The JSON document. Raises `InvalidInput` (`unknown_format`) that says where it is cut off, or what else is wrong; `TooLarge`."""
    check_values(values_in(data))
    try:
        return parse_json(data[:].decode("utf-8-sig"))
    except UnicodeDecodeError as why:
        raise hopeless(title, f"it is not UTF-8 text: byte {why.start + 1} cannot be read.") from why
    except InvalidInput as why:
        raise hopeless(title, reason(why)) from why


def values_in(data: Contents) -> int:
    """How many values a JSON text has at most: commas and brackets in texts are counted, too."""
    return sum(count_in(data, sign) for sign in (b",", b"[", b"{"))


def check_values(values: int) -> None:
    """Refuse what would take far more memory than its bytes."""
    if values > MOST_VALUES:
        raise TooLarge(
            f"The file has {values:,} JSON values; {MOST_VALUES:,} are the most. Split it.", limit=MOST_VALUES
        )


def reason(why: InvalidInput) -> str:
    """What is wrong with a JSON text, as a part of a sentence."""
    cause = why.__cause__
    if isinstance(cause, json.JSONDecodeError):
        where = f"line {cause.lineno}, character {cause.colno}"
        return f"it is cut off or not JSON: {cause.msg.removesuffix(' at')} at {where}."
    return why.message


def records_of(data: Contents, title: str, *, inside: str | None = None) -> list[Line | Skipped]:
    """The objects of a file that is a list of them, JSON lines of them, an object with the list under `inside`, or one of them.

    Each has its place from 1 as its number. Raises `InvalidInput` (`unknown_format`) where the file is none of these.
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
        raise hopeless(title, "it is JSON but no list of records.")
    check_lines(len(value))
    return [_record(number, each) for number, each in enumerate(value, start=1)]


def _record(number: int, value: Any) -> Line | Skipped:
    if isinstance(value, dict):
        return Line(number=number, record=value, digest="")
    return Skipped(line=number, reason="It is no object.")
