"""Files and standard input as commands read them. A file is read completely before anything is sent."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, cast

from timemachine.cli.failure import Failure, Unreadable
from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject

if TYPE_CHECKING:
    from timemachine.client.generated import types

STANDARD_INPUT = "-"
MOST_FRAMES = 100  # a find in the collection waits for a put
MOST_BYTES = 4 * 1024 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TEXTS = ("title", "uri", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One JSON object of a .jsonl file, with the name of the file and the number of the line from 1."""

    file: str
    number: int
    fields: JsonObject

    def refused(self, why: str) -> Failure:
        """The failure that names this line."""
        return _refused(self.file, self.number, why)


def shown_name(file: str) -> str:
    """The name of the file in messages."""
    return "Standard input" if file == STANDARD_INPUT else file


def read_bytes(file: str) -> bytes:
    """The bytes of a file, or of standard input for `-`. Raises `Unreadable`."""
    with _reading(file):
        if file == STANDARD_INPUT:
            return b"" if sys.stdin is None else sys.stdin.buffer.read()
        return Path(file).read_bytes()


@contextmanager
def opened(file: str) -> Iterator[IO[bytes]]:
    """The open file, seekable: standard input (`-`) and pipes are copied to a temporary file. Raises `Unreadable`."""
    if file == STANDARD_INPUT:
        with _copied(None if sys.stdin is None else sys.stdin.buffer) as found:
            yield found
        return
    with _open(file) as there:
        if there.seekable():
            yield there
            return
        with _copied(there) as found:
            yield found


def read_any_text(file: str) -> str:
    """The text of a file without a byte order mark; it can be empty. Raises `Failure` if it is not UTF-8."""
    return _decoded(file, read_bytes(file))


def read_text(file: str) -> str:
    """The text of a file without a byte order mark. Raises `Failure` if it is empty or not UTF-8."""
    text = read_any_text(file)
    if not text.strip():
        raise empty(file)
    return text


def read_lines(file: str) -> list[Line]:
    """The JSON objects of a .jsonl file, without blank lines. Raises `Failure` with the number of the first bad line."""
    lines = [
        Line(file=file, number=number, fields=_object(file, number, line))
        for number, line in enumerate(_decoded(file, read_bytes(file)).split("\n"), 1)
        if line.strip()
    ]
    if not lines:
        raise empty(file)
    return lines


def empty(file: str) -> Failure:
    """The failure for an empty file."""
    return Failure(f"{shown_name(file)} is empty. Nothing was sent.")


def is_frames_file(file: str) -> bool:
    """Whether a `put` reads the frames here: standard input, or a file with one frame in each line."""
    return file == STANDARD_INPUT or file.lower().endswith((".jsonl", ".ndjson"))


def read_frames(
    files: Sequence[str], *, title: str | None = None, uri: str | None = None
) -> list[types.FrameIn]:
    """The frames of .jsonl files and of standard input, in order; `title` and `uri` apply to standard input.

    Raises `Failure` with the number of a bad line.
    """
    return [frame for file in files for frame in _frames(file, title=title, uri=uri)]


def json_size(item: object) -> int:
    """The length of an item in a request."""
    return len(json.dumps(item))


def batches[Item](
    items: Sequence[Item],
    size: Callable[[Item], int],
    *,
    most: int = MOST_FRAMES,
    largest: int = MOST_BYTES,
) -> Iterator[list[Item]]:
    """The items in order, in batches of at most `most` items and the total size `largest`; one that is larger goes alone."""
    batch: list[Item] = []
    left = largest
    for item in items:
        needed = size(item)
        if batch and (len(batch) == most or needed > left):
            yield batch
            batch, left = [], largest
        batch.append(item)
        left -= needed
    yield batch


def _frames(file: str, *, title: str | None, uri: str | None) -> list[types.FrameIn]:
    if file == STANDARD_INPUT:
        return [{"text": read_text(file), "title": title or "", "uri": uri or ""}]
    return [_line_frame(line) for line in read_lines(file)]


def _line_frame(line: Line) -> types.FrameIn:
    frame: JsonObject = {name: line.fields[name] for name in _TEXTS if line.fields.get(name) is not None}
    wrong = [name for name, value in frame.items() if not isinstance(value, str)]
    if wrong:
        raise line.refused(f"`{wrong[0]}` must be a string.")
    if "text" not in frame:
        raise line.refused("`text` is missing.")
    frame["metadata"] = {name: value for name, value in line.fields.items() if name not in _TEXTS}
    return cast("types.FrameIn", frame)


@contextmanager
def _copied(source: IO[bytes] | None) -> Iterator[IO[bytes]]:
    with TemporaryFile() as found:
        if source is not None:
            copyfileobj(source, found)
        yield found


def _open(file: str) -> BufferedReader:
    with _reading(file):
        return Path(file).open("rb")


@contextmanager
def _reading(file: str) -> Iterator[None]:
    try:
        yield
    except OSError as why:
        raise Unreadable(shown_name(file), why.strerror or str(why)) from why
    except ValueError as why:  # a NUL in the name
        raise Unreadable(repr(file), "not a file name") from why


def _object(file: str, number: int, line: str) -> JsonObject:
    try:
        value = parse_json(line)
    except InvalidInput as why:
        raise _refused(file, number, why.message) from why
    if not isinstance(value, dict):
        raise _refused(file, number, "Each line must be a JSON object, like {…}.")
    return value


def _decoded(file: str, data: bytes) -> str:
    try:
        return data.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError as why:
        raise Failure(
            f"{shown_name(file)} is not UTF-8 text (byte {why.start + 1:,}). Nothing was sent. Convert it to UTF-8 first."
        ) from why


def _refused(file: str, number: int, why: str) -> Failure:
    return Failure(f"{shown_name(file)}, line {number}: {why} Nothing was sent.")
