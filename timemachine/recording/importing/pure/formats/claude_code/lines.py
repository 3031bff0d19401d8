"""What every line of Claude Code has in common: whose it is, when it was written, what its actions are called. Pure."""

from datetime import datetime
from typing import Any, Final

from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.sessions.pure.draft import ActionDraft

AGENT: Final = "claude-code"
SIDECHAIN: Final = "sidechain"
_LONGEST_UUID = 150


def identity(line: Line) -> str:
    """The line's `uuid`; for a line without a usable one, `line-` and 16 hex digits of its SHA-256.

    Never its number: the same line stands elsewhere in a resumed file, and another line stands at this number.
    """
    uuid = text_at(line.record, "uuid")
    return uuid if uuid and len(uuid) <= _LONGEST_UUID else f"line-{line.digest[:16]}"


def stem(line: Line) -> ActionDraft:
    """What all actions of a line share, as an `event` of the system named by the line's type."""
    sidechain = line.record.get("isSidechain") is True
    # A compaction summary is put into the user's mouth; the user did not write it.
    meta = line.record.get("isMeta") is True or line.record.get("isCompactSummary") is True
    return ActionDraft(
        kind="event",
        layer="sys",
        role="system",
        agent=SIDECHAIN if sidechain else AGENT,
        name=line.record["type"],
        tags=("sidechain",) * sidechain + ("meta",) * meta,
        started_at=moment_of(line),
    )


def moment_of(line: Line) -> datetime | None:
    """The line's `timestamp`, or its snapshot's; None where it has none that is a time with an offset."""
    return _time(line.record.get("timestamp")) or _time(_inner(line.record, "snapshot").get("timestamp"))


def text_at(record: dict[str, Any], name: str) -> str | None:
    """The text of that name; None where it is empty, missing or no text."""
    found = record.get(name)
    return found if isinstance(found, str) and found else None


def message_of(line: Line) -> dict[str, Any]:
    """The line's `message`, empty where it has none."""
    return _inner(line.record, "message")


def type_of(block: Any) -> str:
    """The type of a content block, `unknown` where it names none."""
    return (text_at(block, "type") if isinstance(block, dict) else None) or "unknown"


def _inner(record: dict[str, Any], name: str) -> dict[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _time(written: Any) -> datetime | None:
    if not isinstance(written, str):
        return None
    try:
        return parse_time(written)
    except (InvalidInput, OverflowError):  # OverflowError: the offset leads out of the years 1 to 9999
        return None
