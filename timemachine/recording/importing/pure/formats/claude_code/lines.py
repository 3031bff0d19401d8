"""What all lines of Claude Code have in common: identity, time and the fields of their actions."""

from datetime import datetime
from typing import Any, Final

from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.values import moment, record_at, text_at
from timemachine.recording.sessions.pure.draft import ActionDraft

AGENT: Final = "claude-code"
_LONGEST_UUID = 150


def identity(line: Line) -> str:
    """Return the line's `uuid`, or `line-` and 16 hex digits of its SHA-256.

    Line numbers cannot be used: in a resumed file the same line has another number.
    """
    uuid = text_at(line.record, "uuid")
    return uuid if uuid and len(uuid) <= _LONGEST_UUID else f"line-{line.digest[:16]}"


def stem(line: Line) -> ActionDraft:
    """Return the fields that all actions of a line share, as an `event` of the system named by the line's type."""
    sidechain = line.record.get("isSidechain") is True
    # A compaction summary appears as the user's message, but the user did not write it.
    meta = line.record.get("isMeta") is True or line.record.get("isCompactSummary") is True
    return ActionDraft(
        kind="event",
        layer="sys",
        role="system",
        agent="sidechain" if sidechain else AGENT,
        name=line.record["type"],
        tags=("sidechain",) * sidechain + ("meta",) * meta,
        started_at=moment_of(line),
    )


def moment_of(line: Line) -> datetime | None:
    """Return the line's `timestamp`, or its snapshot's; None if it has none with an offset."""
    return moment(line.record.get("timestamp")) or moment(record_at(line.record, "snapshot").get("timestamp"))


def type_of(block: Any) -> str:
    """Return the type of a content block, or `unknown`."""
    return text_at(block, "type") or "unknown"
