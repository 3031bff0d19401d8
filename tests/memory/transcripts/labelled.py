"""Pairs of errors in the recordings, labelled by a person as the same problem or different ones.

README.md in this folder states the rule and the number of errors. `labelled_errors.json` only refers to the recordings and contains none of
their text.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from tests.recording.importing.sample_files import read
from timemachine.recording.importing.pure.report import SessionDraft

LABELS = Path(__file__).with_name("labelled_errors.json")

type Kind = Literal["failed_call", "failed_run", "nothing_to_run", "labelled_mistake"]
type Label = Literal["same", "different"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledError:
    """An error in a recording. `run` is an index into the list of a tau-bench file, None elsewhere; `run` and `message` start at 0."""

    name: str
    set: str
    file: str
    message: int
    sha256: str
    kind: Kind
    run: int | None = None

    @property
    def action_id(self) -> str:
        """Return the id that the importer gives to the action of this message."""
        return f"message-{self.message if self.run is None else self.message + 1}"

    def path(self, recordings: Path) -> Path:
        """Return the file that contains it."""
        return recordings / self.set / self.file

    def text(self, recordings: Path) -> str:
        """Return the recorded text, read without the importer."""
        found = _document(self.path(recordings))
        messages: list[dict[str, Any]] = found["history"] if self.run is None else found[self.run]["traj"]
        content: str = messages[self.message]["content"]
        return content


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """The names of two errors, their label, and the reason for it."""

    one: str
    other: str
    label: Label
    reason: str


def labelled_errors() -> dict[str, LabelledError]:
    """Return every labelled error by its name."""
    return {name: LabelledError(name=name, **found) for name, found in _file()["errors"].items()}


def labelled_pairs() -> list[LabelledPair]:
    """Return every labelled pair as written."""
    return [LabelledPair(**found) for found in _file()["pairs"]]


def problems(pairs: Iterable[LabelledPair]) -> list[frozenset[str]]:
    """Return the groups of errors that are the same problem, directly or transitively; an unrelated error is a group of its own."""
    found: dict[str, frozenset[str]] = {}
    for pair in pairs:
        of_one = found.setdefault(pair.one, frozenset({pair.one}))
        of_other = found.setdefault(pair.other, frozenset({pair.other}))
        if pair.label == "same":
            joined = of_one | of_other
            found.update(dict.fromkeys(joined, joined))
    return sorted(set(found.values()), key=sorted)


def unlisted(errors: Iterable[str], pairs: Iterable[LabelledPair]) -> set[frozenset[str]]:
    """Return the pairs that have no label."""
    return {frozenset(both) for both in combinations(errors, 2)} - {
        frozenset({pair.one, pair.other}) for pair in pairs
    }


@cache
def sessions_of(path: Path, format_name: str) -> tuple[SessionDraft, ...]:
    """Return the sessions that the importer makes of a recording."""
    return read(path.read_bytes(), format_name).sessions


@cache
def _document(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def _file() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(LABELS.read_text(encoding="utf-8"))
    return found
