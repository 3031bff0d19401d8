"""The passages that a `put` sends: read from files first, all of them, so that one bad line stops everything."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from timemachine.cli.source import STANDARD_INPUT, Line, read_lines, read_text

MOST_FRAMES = 100  # a find in the collection waits while one request is put
MOST_BYTES = 4 * 1024 * 1024
_TEXTS = ("title", "uri", "text")

type Frame = dict[str, Any]


def frames_of(files: Sequence[str], *, title: str | None = None, uri: str | None = None) -> list[Frame]:
    """The passages of .jsonl files and of standard input, in their order; `title` and `uri` are those of standard input.

    Raises `Failure` with the number of a bad line.
    """
    return [frame for file in files for frame in _frames(file, title=title, uri=uri)]


def is_lines(file: str) -> bool:
    """Whether a file goes as passages that are read here: standard input, or one passage in each line."""
    return file == STANDARD_INPUT or file.lower().endswith((".jsonl", ".ndjson"))


def batches(frames: Sequence[Frame], most: int = MOST_FRAMES) -> Iterator[list[Frame]]:
    """The passages, or answers, in their order, in parts of which each fits into one request."""
    part: list[Frame] = []
    room = MOST_BYTES
    for frame in frames:
        size = len(json.dumps(frame))
        if part and (len(part) == most or size > room):
            yield part
            part, room = [], MOST_BYTES
        part.append(frame)
        room -= size
    yield part


def _frames(file: str, *, title: str | None, uri: str | None) -> list[Frame]:
    if file == STANDARD_INPUT:
        return [{"text": read_text(file), "title": title or "", "uri": uri or ""}]
    return [_line_frame(line) for line in read_lines(file)]


def _line_frame(line: Line) -> Frame:
    named = {name: line.fields[name] for name in _TEXTS if line.fields.get(name) is not None}
    wrong = [name for name, value in named.items() if not isinstance(value, str)]
    if wrong:
        raise line.refused(f"`{wrong[0]}` has to be a text.")
    if "text" not in named:
        raise line.refused("`text` is missing.")
    metadata = {name: value for name, value in line.fields.items() if name not in _TEXTS}
    return {**named, "metadata": metadata}
