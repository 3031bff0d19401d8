"""Reads files within limits, in a separate process if that could take long or use much memory."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.text.pure.documents.document import LARGEST_FILE
from timemachine.text.pure.documents.formats import Format
from timemachine.text.pure.documents.jsonl import BadLine, Record, read_jsonl
from timemachine.text.pure.documents.passages import Passage, SplitDocument, split_document
from timemachine.text.pure.documents.plain_text import read_plain_text
from timemachine.text.pure.language.words import word_set

_CODE: Final = Path(__file__).resolve().parents[4]
# The process that reads an untrusted file gets none of our secrets, only what an interpreter needs.
_ENVIRONMENT: Final = word_set(
    """
    PATH PYTHONPATH PYTHONHOME LANG LC_ALL LC_CTYPE TMPDIR LD_LIBRARY_PATH PYTHONDONTWRITEBYTECODE
    COVERAGE_PROCESS_CONFIG COVERAGE_PROCESS_START
    """
)
SMALL_TEXT: Final = 64 * 1024  # read in this process: starting another takes longer
SMALL_LINES: Final = 256 * 1024  # the same: time is proportional to size
_REFUSED: Final = {"InvalidInput": InvalidInput, "TooLarge": TooLarge}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Time and memory limits of the process that reads one file."""

    seconds: int
    megabytes: int


def read(data: bytes, format_: Format, limits: Limits, *, title: str = "", name: str = "") -> SplitDocument:
    """Read a file and split it into passages, with the `title`, its own title, or the file's `name`.

    JSONL is not a document: see `read_lines`.

    Raises:
        InvalidInput: The file cannot be read or has no text.
        TooLarge: The file is larger than `LARGEST_FILE`, or reading it exceeds the limits.
    """
    _check_size(data)
    if format_ == "text" and len(data) <= SMALL_TEXT:
        return split_document(read_plain_text(data), title=title, name=name)
    names = json.dumps({"title": title, "name": name}).encode()
    return _split_document(_in_subprocess(names + b"\n" + data, format_, limits))


def read_lines(data: bytes, limits: Limits) -> list[Record | BadLine]:
    """Read every line of a JSONL file that is not blank, as a passage or why it is not one. Raises as `read` does."""
    _check_size(data)
    if len(data) <= SMALL_LINES:
        return read_jsonl(data)
    lines = _in_subprocess(b"{}\n" + data, "jsonl", limits)["lines"]
    return [BadLine(**fields) if "reason" in fields else Record(**fields) for fields in lines]


def _check_size(data: bytes) -> None:
    if len(data) > LARGEST_FILE:
        raise TooLarge(
            f"This file has {len(data):,} bytes; the limit is {LARGEST_FILE:,}. Split it.",
            limit_bytes=LARGEST_FILE,
        )


def _in_subprocess(sent: bytes, format_: Format, limits: Limits) -> JsonObject:
    """Read the file in a separate process and return its result. Raises what that refuses."""
    arguments = [format_, str(limits.seconds), str(limits.megabytes)]
    command = [sys.executable, "-m", "timemachine.text.pure.documents", *arguments]
    try:
        done = subprocess.run(
            command,
            input=sent,
            capture_output=True,
            cwd=_CODE,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            timeout=limits.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as why:
        raise _over(limits) from why
    if done.returncode:
        raise _over(limits) if done.returncode < 0 or b"MemoryError" in done.stderr else _broken(done.stderr)
    answer: JsonObject = json.loads(done.stdout)
    refused = answer.get("refused")
    if refused is not None:
        raise _REFUSED[refused["kind"]](refused["message"], code=refused["code"], **refused["facts"])
    return answer


def _split_document(answer: JsonObject) -> SplitDocument:
    text, titles = answer["text"], answer["titles"]
    found = tuple(
        Passage(
            text=text[start:end] if words is None else words,
            title=titles[title],
            start=start,
            end=end,
            page=page,
        )
        for start, end, title, page, words in answer["passages"]
    )
    return SplitDocument(text=text, title=answer["title"], passages=found, left_out=tuple(answer["left_out"]))


def _over(limits: Limits) -> TooLarge:
    return TooLarge(
        f"Reading this file took more than {limits.seconds} s or {limits.megabytes} MB of memory; split it or simplify it.",
        code="too_large",
        seconds=limits.seconds,
        megabytes=limits.megabytes,
    )


def _broken(stderr: bytes) -> InvalidInput:
    last = stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return InvalidInput(
        "This file cannot be read: the parser failed. Open it in its original application, save a copy, and upload that copy.",
        code="unreadable_document",
        reader_said=last[:200],
    )
