"""The Cranfield collection: abstracts, and questions about them. `RETRIEVAL_DIR` names the folder with the files."""

import json
import os
import random
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(
    os.environ.get("RETRIEVAL_DIR", Path(__file__).parents[2] / ".." / "shared" / "retrieval")
)
FRAMES: Final = "cranfield_frames.jsonl"
EXCHANGED: Final = 0.25


def frames() -> list[dict[str, Any]]:
    """Return the abstracts, each with `id`, `title` and `text`; two of them have no text."""
    return _lines(FRAMES)


def queries() -> list[dict[str, Any]]:
    """Return the first hundred questions, each with its `text` and its `relevant` abstracts."""
    return _lines("cranfield_queries_1_to_100.jsonl")


def questions() -> list[str]:
    """Return only the texts of the questions."""
    return [each["text"] for each in queries()]


def with_text() -> list[dict[str, Any]]:
    """Return the abstracts that have a text."""
    return [each for each in frames() if each["text"].strip()]


def varied() -> Iterator[tuple[str, str]]:
    """Yield endless titles and texts: the abstracts repeatedly, with a quarter of their words replaced by others of the collection; the same in every run."""
    chance = random.Random(7)
    abstracts = with_text()
    words = [word for each in abstracts for word in each["text"].split()]
    for each in cycle(abstracts):
        text = (
            chance.choice(words) if chance.random() < EXCHANGED else word for word in each["text"].split()
        )
        yield each["title"], " ".join(text)


def _lines(name: str) -> list[dict[str, Any]]:
    file = FOLDER / name
    if not file.exists():
        sys.exit(f"No {name} in {FOLDER}; RETRIEVAL_DIR names the folder that has it.")
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
