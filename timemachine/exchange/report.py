"""What an importer hands back: the sessions it read, and an account of every line it was given. Pure.

The account adds up: `lines` is the number of lines that became part of an action plus the number that were skipped.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from timemachine.base.content import text_sha256
from timemachine.recording.draft import ActionDraft

NAME_LENGTH = 80
_KEY = re.compile(r"[A-Za-z0-9._:@-]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDraft:
    """One session to be recorded; `actions` stand in the order in which they are to be numbered.

    `key` names the same session whenever its file is read again. `started_at` and `ended_at` are the earliest and the
    latest recorded time, None where no time was recorded.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A line that became no action: its number in the file, from 1, and the reason in one sentence."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of a file: how many lines it has, how many actions of each kind they became, which were skipped.

    A blank line holds nothing and is not counted in `lines`; it does count in the line numbers.
    """

    lines: int
    became: dict[str, int]
    skipped: tuple[Skipped, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The report as the API answers it."""
        return {
            "lines": self.lines,
            "became": dict(self.became),
            "skipped": [{"line": each.line, "reason": each.reason} for each in self.skipped],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The sessions of one file and the report about it."""

    sessions: tuple[SessionDraft, ...]
    report: ImportReport


def imported(sessions: tuple[SessionDraft, ...], *, lines: int, skipped: tuple[Skipped, ...]) -> Imported:
    """The sessions with their report; actions are counted by kind, in the order in which the kinds first appear."""
    became = Counter(action.kind for session in sessions for action in session.actions)
    return Imported(sessions=sessions, report=ImportReport(lines=lines, became=dict(became), skipped=skipped))


def session_key(recorded: str, format_name: str) -> str:
    """The recorded id where it can be a session's key, else the format's name and 12 hex digits of the id's SHA-256."""
    if _KEY.fullmatch(recorded):
        return recorded
    return f"{format_name}-{text_sha256(recorded)[:12]}"


def shortened(text: str, limit: int = NAME_LENGTH) -> str:
    """The text on one line and within the limit; a longer one ends after a whole word, with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    words = line[:limit].rpartition(" ")[0]
    return (words or line[: limit - 1]) + "…"
