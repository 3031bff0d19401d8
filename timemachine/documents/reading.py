"""Reading a file within limits: what could take for ever or fill the memory happens in a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from timemachine.base.errors import InvalidInput, TooLarge
from timemachine.documents.document import LARGEST_FILE, Block, Document
from timemachine.documents.formats import Format
from timemachine.documents.plain_text import read_plain_text

_CODE: Final = Path(__file__).resolve().parent.parent.parent
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
)
_REFUSED: Final = {"InvalidInput": InvalidInput, "TooLarge": TooLarge}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long reading one file may take, and how much memory: both are for the process that reads it."""

    seconds: int
    megabytes: int


def read(data: bytes, format_: Format, limits: Limits) -> Document:
    """The document in a file's bytes.

    Raises `InvalidInput` where the file cannot be read or holds no text, and `TooLarge` where it is over `LARGEST_FILE` or
    over the limits. JSONL is not a document: its lines are.
    """
    if len(data) > LARGEST_FILE:
        raise TooLarge(
            f"This file has {len(data):,} bytes; one may have {LARGEST_FILE:,}. Split it.",
            limit_bytes=LARGEST_FILE,
        )
    document = read_plain_text(data) if format_ == "text" else _apart(data, format_, limits)
    if not document.text.strip():
        raise InvalidInput("There is no text in this file.", code="no_text")
    return document


def _apart(data: bytes, format_: Format, limits: Limits) -> Document:
    command = [
        sys.executable,
        "-m",
        "timemachine.documents",
        format_,
        str(limits.seconds),
        str(limits.megabytes),
    ]
    try:
        done = subprocess.run(
            command,
            input=data,
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
    return _document(json.loads(done.stdout))


def _document(answer: dict[str, Any]) -> Document:
    refused = answer.get("refused")
    if refused is not None:
        raise _REFUSED[refused["kind"]](refused["message"], code=refused["code"], **refused["facts"])
    return Document(
        text=answer["text"], blocks=tuple(Block(**each) for each in answer["blocks"]), title=answer["title"]
    )


def _over(limits: Limits) -> TooLarge:
    return TooLarge(
        f"Reading this file took more than {limits.seconds} s or {limits.megabytes} MB; split it or simplify it.",
        code="too_large",
        seconds=limits.seconds,
        megabytes=limits.megabytes,
    )


def _broken(said: bytes) -> InvalidInput:
    last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return InvalidInput(f"This file cannot be read ({last[:200]}).", code="unreadable_document")
