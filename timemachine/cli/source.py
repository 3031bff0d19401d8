"""Files and standard input as a command reads them; whatever cannot be read is one clear sentence."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any

from timemachine.cli.failure import Failure, Unreadable
from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput

STANDARD_INPUT = "-"
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One JSON object of a .jsonl file, with the file's name and the line's number from 1."""

    file: str
    number: int
    fields: dict[str, Any]

    def refused(self, why: str) -> Failure:
        """The refusal of everything because of this line."""
        return _refused(self.file, self.number, why)


def shown_name(file: str) -> str:
    """The file as messages name it."""
    return "Standard input" if file == STANDARD_INPUT else file


def read_bytes(file: str) -> bytes:
    """The bytes of a file, or of standard input for `-`. Raises `Unreadable`."""
    try:
        if file != STANDARD_INPUT:
            return Path(file).read_bytes()
        return b"" if sys.stdin is None else sys.stdin.buffer.read()
    except OSError as why:
        raise _unreadable(file, why) from why
    except ValueError as why:  # a NUL in the name
        raise Unreadable(repr(file), "it can name no file") from why


@contextmanager
def opened(file: str) -> Iterator[IO[bytes]]:
    """The file, to be read piece by piece; standard input for `-`, and a pipe, are kept on a disk first. Raises `Unreadable`."""
    if file == STANDARD_INPUT:
        with _kept(None if sys.stdin is None else sys.stdin.buffer) as found:
            yield found
        return
    with _open(file) as there:
        if there.seekable():
            yield there
            return
        with _kept(there) as found:
            yield found


@contextmanager
def _kept(coming: IO[bytes] | None) -> Iterator[IO[bytes]]:
    with TemporaryFile() as found:
        if coming is not None:
            copyfileobj(coming, found)
        yield found


def _open(file: str) -> BufferedReader:
    try:
        return Path(file).open("rb")
    except OSError as why:
        raise _unreadable(file, why) from why
    except ValueError as why:  # a NUL in the name
        raise Unreadable(repr(file), "it can name no file") from why


def _unreadable(file: str, why: OSError) -> Unreadable:
    return Unreadable(shown_name(file), why.strerror or str(why))


def read_text(file: str) -> str:
    """The text of a file, exactly, without a byte order mark. Raises `Failure` where it is not UTF-8, or is empty."""
    text = _decoded(file, read_bytes(file))
    if not text.strip():
        raise Failure(f"{shown_name(file)} is empty; there is nothing to send.")
    return text


def read_lines(file: str) -> list[Line]:
    """The JSON objects of a .jsonl file, blank lines left out. Raises `Failure` with the number of the first bad line."""
    lines = list(_lines(file, _decoded(file, read_bytes(file))))
    if not lines:
        raise Failure(f"{shown_name(file)} is empty; there is nothing to send.")
    return lines


def _lines(file: str, text: str) -> Iterator[Line]:
    for number, written in enumerate(text.split("\n"), 1):
        if written.strip():
            yield Line(file=file, number=number, fields=_object(file, number, written))


def _object(file: str, number: int, written: str) -> dict[str, Any]:
    try:
        value = parse_json(written)
    except InvalidInput as why:
        raise _refused(file, number, why.message) from why
    if not isinstance(value, dict):
        raise _refused(file, number, "A line has to be a JSON object, like {…}.")
    return value


def _decoded(file: str, data: bytes) -> str:
    try:
        return data.removeprefix(_MARK).decode()
    except UnicodeDecodeError as why:
        raise Failure(
            f"{shown_name(file)} is not text in UTF-8 (byte {why.start + 1:,}); convert it first, nothing was sent."
        ) from why


def _refused(file: str, number: int, why: str) -> Failure:
    return Failure(f"{shown_name(file)}, line {number}: {why} Nothing was sent.")
