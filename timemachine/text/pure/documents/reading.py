"""Reading a file within limits: what could take for ever or fill the memory happens in a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.text.pure.documents.document import LARGEST_FILE
from timemachine.text.pure.documents.formats import Format
from timemachine.text.pure.documents.jsonl import BadLine, Record, line_of, read_jsonl
from timemachine.text.pure.documents.passages import Parted, Passage, parted
from timemachine.text.pure.documents.plain_text import read_plain_text

_CODE: Final = Path(__file__).resolve().parents[4]
# Who reads a stranger's file knows no secret of ours: it gets what an interpreter needs, nothing else.
_ENVIRONMENT: Final = (
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "PYTHONDONTWRITEBYTECODE",
    "COVERAGE_PROCESS_CONFIG",
    "COVERAGE_PROCESS_START",
)
SMALL_TEXT: Final = 64 * 1024  # read where it is: a process takes longer to start
SMALL_LINES: Final = 256 * 1024  # the same: each byte of JSON takes about as long as any other
_REFUSED: Final = {"InvalidInput": InvalidInput, "TooLarge": TooLarge}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long reading one file may take, and how much memory: both are for the process that reads it."""

    seconds: int
    megabytes: int


def read(data: bytes, format_: Format, limits: Limits, *, title: str = "", name: str = "") -> Parted:
    """The text in a file's bytes and its passages, called by the `title`, else what it calls itself, else by the file's `name`.

    Raises `InvalidInput` where the file cannot be read or holds no text, and `TooLarge` where it is over `LARGEST_FILE` or
    over the limits. JSONL is not a document: see `read_lines`.
    """
    _check_size(data)
    if format_ == "text" and len(data) <= SMALL_TEXT:
        return parted(read_plain_text(data), title=title, name=name)
    names = json.dumps({"title": title, "name": name}).encode()
    return _parted(_apart(names + b"\n" + data, format_, limits))


def read_lines(data: bytes, limits: Limits) -> list[Record | BadLine]:
    """Every line of a JSONL file that is not blank, as a passage or as why it is none. Raises as `read` does."""
    _check_size(data)
    if len(data) <= SMALL_LINES:
        return read_jsonl(data)
    return [line_of(fields) for fields in _apart(b"{}\n" + data, "jsonl", limits)["lines"]]


def _check_size(data: bytes) -> None:
    if len(data) > LARGEST_FILE:
        raise TooLarge(
            f"This file has {len(data):,} bytes; one may have {LARGEST_FILE:,}. Split it.",
            limit_bytes=LARGEST_FILE,
        )


def _apart(said: bytes, format_: Format, limits: Limits) -> dict[str, Any]:
    """What the process answers that reads the file. Raises what it refuses."""
    command = [
        sys.executable,
        "-m",
        "timemachine.text.pure.documents",
        format_,
        str(limits.seconds),
        str(limits.megabytes),
    ]
    try:
        done = subprocess.run(
            command,
            input=said,
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
    answer: dict[str, Any] = json.loads(done.stdout)
    refused = answer.get("refused")
    if refused is not None:
        raise _REFUSED[refused["kind"]](refused["message"], code=refused["code"], **refused["facts"])
    return answer


def _parted(answer: dict[str, Any]) -> Parted:
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
    return Parted(text=text, title=answer["title"], passages=found, left_out=tuple(answer["left_out"]))


def _over(limits: Limits) -> TooLarge:
    return TooLarge(
        f"Reading this file took more than {limits.seconds} s or {limits.megabytes} MB; split it or simplify it.",
        code="too_large",
        seconds=limits.seconds,
        megabytes=limits.megabytes,
    )


def _broken(said: bytes) -> InvalidInput:
    last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return InvalidInput(
        "This file cannot be read: its reader failed. Open it in its original application, save a copy, and upload that copy.",
        code="unreadable_document",
        reader_said=last[:200],
    )
