"""What an importer returns: sessions, and a report that accounts for every line.

The report adds up: `lines` is the number of lines that became part of an action plus the number that were skipped.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from timemachine.recording.sessions.pure.draft import ActionDraft

NAME_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDraft:
    """A session to be recorded. `actions` are in the order in which they will be numbered.

    `key` identifies the session whenever its file is read again. `started_at` and `ended_at` are the earliest and
    latest recorded time, None if no time was recorded. `forked_from` is the key of the session it branched from and
    `forked_at` the step; if that session was deleted, `forked_from_deleted` is its id.

    `numbered` actions are stored exactly as exported, from here or another server: the first one is step 1, nothing
    is derived or added, and an id may be missing.
    """

    key: str
    name: str
    agent: str | None = None
    user: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    actions: tuple[ActionDraft, ...] = ()
    forked_from: str | None = None
    forked_at: int | None = None
    forked_from_deleted: UUID | None = None
    numbered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A line that became no action: its number in the file, from 1, and the reason in one sentence.

    In a file that does not consist of lines, a line is a record; each format documents which ones.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of a file: how many lines it has, how many actions of each kind they became, and which were skipped.

    Blank lines are not counted in `lines`, but they do count in line numbers. `notes` are sentences about lines that
    became part of another line's action, and about values that were interpreted differently from how they were
    written.
    """

    lines: int
    became: dict[str, int]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the report as it is stored."""
        return {
            "lines": self.lines,
            "became": dict(self.became),
            "skipped": [{"line": each.line, "reason": each.reason} for each in self.skipped],
            "notes": list(self.notes),
        }

    @classmethod
    def of_json(cls, stored: dict[str, Any]) -> "ImportReport":
        """Return the report that `as_json` wrote."""
        skipped = tuple(Skipped(line=each["line"], reason=each["reason"]) for each in stored["skipped"])
        return cls(
            lines=stored["lines"], became=stored["became"], skipped=skipped, notes=tuple(stored["notes"])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFile:
    """The sessions of one file and the report about it."""

    sessions: tuple[SessionDraft, ...]
    report: ImportReport


def parsed_file(
    sessions: tuple[SessionDraft, ...],
    *,
    lines: int,
    skipped: tuple[Skipped, ...] = (),
    notes: tuple[str, ...] = (),
) -> ParsedFile:
    """Return the sessions with their report. Kinds are listed in the order in which they first appear."""
    became = Counter(action.kind for session in sessions for action in session.actions)
    report = ImportReport(lines=lines, became=dict(became), skipped=skipped, notes=notes)
    return ParsedFile(sessions=sessions, report=report)


def shortened(text: str, limit: int = NAME_LENGTH) -> str:
    """Return the text on one line and within the limit. If it is cut, it ends after a complete word, with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    words = line[:limit].rpartition(" ")[0]
    return (words or line[: limit - 1]) + "…"


class Ledger:
    """Counts every record of a file once, as used or as skipped."""

    def __init__(self) -> None:
        self.lines = 0
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []

    def use(self, records: int = 1) -> None:
        """Count records that became an action or a part of one."""
        self.lines += records

    def skip(self, reason: str) -> None:
        """Count a record that became no action."""
        self.lines += 1
        self.skipped.append(Skipped(line=self.lines, reason=reason))

    def account(self, sessions: Iterable[SessionDraft]) -> ParsedFile:
        """Return the sessions with the report."""
        return parsed_file(
            tuple(sessions), lines=self.lines, skipped=tuple(self.skipped), notes=tuple(self.notes)
        )
