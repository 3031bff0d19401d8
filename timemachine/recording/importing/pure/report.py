"""What an importer returns: sessions, and a report that accounts for every line.

The report adds up: `lines` is the number of lines that became part of an action plus the number that were skipped.
Blank lines are not counted in it, but they do count in line numbers. In a file that does not consist of lines, a line
is a record; each format documents which ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Schema
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One of the two files of a session. The key of a session begins with `begins`, which its files have in common.

    `repeats`: all that this file has is in the other one in another form. Otherwise this is so except for the tokens and cost
    of its model calls, and for calls that failed.
    """

    name: str
    begins: str
    repeats: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDraft:
    """A session to be recorded. `actions` are in the order in which they will be numbered.

    `key` identifies the session whenever its file is read again. `started_at` and `ended_at` are the earliest and
    latest recorded time, None if no time was recorded. `forked_from` is the key of the session it branched from and
    `forked_at` the step; if that session was deleted, `forked_from_deleted` is its id.

    `anchors` are steps that are recorded only if steps of the session that were imported from another file name them as
    their parent. `awaited_calls` are the ids that steps name as their parent because the call of a tool is in another file, with
    the metadata of the result of this call. `earlier_names` are the names that earlier imports of the session's files may have given it: such a name is
    replaced by `name`, a name that a person gave it here is not.

    `part`: the tool writes each session to two files that do not name it, and this is one of them.

    `ids_are_global`: the tool copies steps into other sessions with the ids that they have, so a step with the same id is the same.

    `numbered` actions are stored exactly as exported, from here or another server: the first one is step 1, nothing
    is derived or added, and an id may be missing.

    `traces` is not None if the actions are spans: those around others state their sums again. It has the ids of the traces
    whose spans belong to this session unless they name another one; the key is such an id if no span named a session.
    """

    key: str
    name: str
    agent: str | None = None
    user: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    metadata: JsonObject = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    actions: tuple[ActionDraft, ...] = ()
    forked_from: str | None = None
    forked_at: int | None = None
    forked_from_deleted: UUID | None = None
    anchors: tuple[ActionDraft, ...] = ()
    awaited_calls: Mapping[str, JsonObject] = field(default_factory=dict)
    earlier_names: tuple[str, ...] = ()
    part: Part | None = None
    ids_are_global: bool = False
    numbered: bool = False
    traces: tuple[str, ...] | None = None


class LineSkipped(Schema):
    """A line of a file that was skipped, counted from 1, and why."""

    line: int
    reason: str


class ImportReportOut(Schema):
    """What happened to every line: `lines` were read, and became actions (counted by kind) or were skipped."""

    lines: int
    became: dict[Kind, int]
    skipped: list[LineSkipped]
    notes: list[str]  # sentences about lines that became part of another line's action, or were corrected

    @classmethod
    def of_json(cls, stored: JsonObject) -> "ImportReportOut":
        """Return the report that `model_dump` wrote."""
        skipped = [LineSkipped.model_construct(**each) for each in stored["skipped"]]
        return cls.model_construct(
            lines=stored["lines"], became=stored["became"], skipped=skipped, notes=stored["notes"]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFile:
    """The sessions of one file and the report about it."""

    sessions: tuple[SessionDraft, ...]
    report: ImportReportOut
