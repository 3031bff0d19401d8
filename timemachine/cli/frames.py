"""The passages that a `put` sends: read from files first, all of them, so that one bad line stops everything."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from timemachine.cli.source import STANDARD_INPUT, Line, read_lines, read_text

MOST_FRAMES = 200
MOST_BYTES = 4 * 1024 * 1024
_TEXTS = ("title", "uri", "text")

type Frame = dict[str, Any]


def frames_of(files: Sequence[str], *, title: str | None, uri: str | None) -> list[Frame]:
    """The passages of the files in their order. Raises `UsageError`, and `Failure` with the number of a bad line."""
    one_text = len(files) == 1 and not _is_jsonl(files[0])
    if (title or uri) and not one_text:
        raise click.UsageError("--title and --uri go with one text; a .jsonl file has its own in each line.")
    if one_text:
        return [_frame(files[0], title=title, uri=uri)]
    return [frame for file in files for frame in _frames(file)]


def batches(frames: Sequence[Frame]) -> Iterator[list[Frame]]:
    """The passages in their order, in parts of which each fits into one request."""
    part: list[Frame] = []
    room = MOST_BYTES
    for frame in frames:
        size = len(json.dumps(frame))
        if part and (len(part) == MOST_FRAMES or size > room):
            yield part
            part, room = [], MOST_BYTES
        part.append(frame)
        room -= size
    yield part


def _frames(file: str) -> list[Frame]:
    if _is_jsonl(file):
        return [_line_frame(line) for line in read_lines(file)]
    return [_frame(file)]


def _frame(file: str, *, title: str | None = None, uri: str | None = None) -> Frame:
    """A file as one passage; without a title it has the file's name."""
    name = "" if file == STANDARD_INPUT else Path(file).name
    return {"text": read_text(file), "title": name if title is None else title, "uri": uri or ""}


def _line_frame(line: Line) -> Frame:
    named = {name: line.fields[name] for name in _TEXTS if line.fields.get(name) is not None}
    wrong = [name for name, value in named.items() if not isinstance(value, str)]
    if wrong:
        raise line.refused(f"`{wrong[0]}` has to be a text.")
    if "text" not in named:
        raise line.refused("`text` is missing.")
    metadata = {name: value for name, value in line.fields.items() if name not in _TEXTS}
    return {**named, "metadata": metadata}


def _is_jsonl(file: str) -> bool:
    return file.lower().endswith(".jsonl")
