"""What an importer hands back: the sessions it read, and an account of every line it was given. Pure.

The account adds up: `lines` is the number of lines that became part of an action plus the number that were skipped.
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
    """One session to be recorded; `actions` stand in the order in which they are to be numbered.

    `key` names the same session whenever its file is read again. `started_at` and `ended_at` are the earliest and the
    latest recorded time, None where no time was recorded. `forked_from` is the key of the session that it goes on from,
    `forked_at` the step at which it left it, where that is recorded; of one that was deleted `forked_from_deleted` is the id it had. `numbered` actions are as they were recorded here or on another
    server: the first one is step 1, nothing is made of them and nothing added, and an id may be missing.
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

    In a file that is no file of lines, a line is a record: the document of the format says of which list.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of a file: how many lines it has, how many actions of each kind they became, which were skipped.

    A blank line holds nothing and is not counted in `lines`; it does count in the line numbers. `notes` are sentences about lines
    that became a part of another's action, and about what had to be taken otherwise than it was written.
    """

    lines: int
    became: dict[str, int]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The report as the API answers it."""
        return {
            "lines": self.lines,
            "became": dict(self.became),
            "skipped": [{"line": each.line, "reason": each.reason} for each in self.skipped],
            "notes": list(self.notes),
        }

    @classmethod
    def of_json(cls, kept: dict[str, Any]) -> "ImportReport":
        """The report that `as_json` wrote."""
        skipped = tuple(Skipped(line=each["line"], reason=each["reason"]) for each in kept["skipped"])
        return cls(lines=kept["lines"], became=kept["became"], skipped=skipped, notes=tuple(kept["notes"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The sessions of one file and the report about it."""

    sessions: tuple[SessionDraft, ...]
    report: ImportReport


def imported(
    sessions: tuple[SessionDraft, ...],
    *,
    lines: int,
    skipped: tuple[Skipped, ...] = (),
    notes: tuple[str, ...] = (),
) -> Imported:
    """The sessions with their report; actions are counted by kind, in the order in which the kinds first appear."""
    became = Counter(action.kind for session in sessions for action in session.actions)
    report = ImportReport(lines=lines, became=dict(became), skipped=skipped, notes=notes)
    return Imported(sessions=sessions, report=report)


def shortened(text: str, limit: int = NAME_LENGTH) -> str:
    """The text on one line and within the limit; a longer one ends after a whole word, with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    words = line[:limit].rpartition(" ")[0]
    return (words or line[: limit - 1]) + "…"


class Ledger:
    """The account of a file while it is read: every record is counted once, as used or as skipped."""

    def __init__(self) -> None:
        self.lines = 0
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []

    def use(self, records: int = 1) -> None:
        """Records that become an action, or a part of one."""
        self.lines += records

    def skip(self, reason: str) -> None:
        """A record that becomes none."""
        self.lines += 1
        self.skipped.append(Skipped(line=self.lines, reason=reason))

    def account(self, sessions: Iterable[SessionDraft]) -> Imported:
        """The sessions with the report."""
        return imported(
            tuple(sessions), lines=self.lines, skipped=tuple(self.skipped), notes=tuple(self.notes)
        )
