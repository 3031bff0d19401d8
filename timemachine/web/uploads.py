"""Uploaded files as passages: a text file is one frame, a JSONL file one frame of each line; one bad line refuses them all."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from timemachine.base.content import parse_json
from timemachine.base.errors import InvalidInput, TooLarge
from timemachine.retrieval.commands import LARGEST_FRAME, NewFrame

TEXT_ENDINGS: Final = (".txt", ".md")
JSONL_ENDINGS: Final = (".jsonl",)
ENDINGS: Final = (*TEXT_ENDINGS, *JSONL_ENDINGS)
MOST_FRAMES: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedText:
    """A file as it came: its name and its bytes."""

    name: str
    data: bytes


def frames_of(files: Sequence[UploadedText]) -> list[NewFrame]:
    """The passages of the files, in their order.

    Raises `InvalidInput` with the file, the line and the reason for the first that cannot be used, `TooLarge` for more than
    `MOST_FRAMES` passages: a browser would wait too long for them.
    """
    found: list[NewFrame] = []
    for file in files:
        for frame in _frames_of(file):
            found.append(frame)
            if len(found) > MOST_FRAMES:
                raise TooLarge(
                    f"These are more than {MOST_FRAMES:,} passages; upload them in parts, or use `timemachine put`.",
                    code="too_many_frames",
                    limit=MOST_FRAMES,
                )
    return found


def text_of(file: UploadedText) -> str:
    """The text of a file in UTF-8, without a byte order mark. Raises `InvalidInput` for other bytes and for no text."""
    text = _decoded(file.data, file.name)
    _check_text(text, file.name)
    return text


def _frames_of(file: UploadedText) -> Iterator[NewFrame]:
    ending = PurePath(file.name).suffix.lower()
    if ending in TEXT_ENDINGS:
        return iter([NewFrame(title=file.name, text=text_of(file))])
    if ending in JSONL_ENDINGS:
        return _frames_of_lines(file)
    raise InvalidInput(
        f"{file.name} is neither a text nor JSONL; upload files that end in {', '.join(ENDINGS)}.",
        code="not_a_text",
    )


def _frames_of_lines(file: UploadedText) -> Iterator[NewFrame]:
    empty = True
    for number, line in enumerate(file.data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            empty = False
            yield _frame_of_line(line, f"{file.name}, line {number:,}")
    if empty:
        raise InvalidInput(f"{file.name} has no lines; there is nothing to put.", code="empty_file")


def _frame_of_line(line: bytes, place: str) -> NewFrame:
    record = _object(_decoded(line, place), place)
    text = _words(record, "text", place)
    _check_text(text, place)
    return NewFrame(
        text=text,
        title=_words(record, "title", place),
        uri=_words(record, "uri", place),
        metadata=_others(record),
    )


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        record = parse_json(line)
    except InvalidInput as why:
        raise InvalidInput(f"{place}: {_reason(why)}", code="not_json") from why
    if not isinstance(record, dict):
        raise InvalidInput(
            f'{place}: this is JSON but not an object; write a line like {{"title": "…", "text": "…"}}.',
            code="not_json",
        )
    return record


def _reason(why: InvalidInput) -> str:
    cause = why.__cause__
    if isinstance(cause, json.JSONDecodeError):
        return f"this is not JSON: {cause.msg.removesuffix(' at')} at character {cause.pos + 1:,}."
    return why.message


def _words(record: dict[str, Any], field: str, place: str) -> str:
    value = record.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(
            f'{place}: "{field}" is not a text; put it in quotes.', code="invalid_field", field=field
        )
    return value


def _others(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in {"text", "title", "uri"}}


def _decoded(data: bytes, place: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        raise InvalidInput(
            f"{place}: byte {why.start + 1:,} is not UTF-8 text; save the file as UTF-8 and upload it again.",
            code="not_text",
        ) from why


def _check_text(text: str, place: str) -> None:
    if not text.strip():
        raise InvalidInput(f"{place}: there is no text in it; every passage needs one.", code="no_text")
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > LARGEST_FRAME:
        raise TooLarge(
            f"{place}: this passage has {size:,} bytes, and one may have {LARGEST_FRAME:,}; put it in parts.",
            limit_bytes=LARGEST_FRAME,
        )
