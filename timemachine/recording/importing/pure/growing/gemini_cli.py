"""What of a growing chat of Gemini CLI is settled, and what later lines need."""

from collections.abc import Sequence

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.formats.gemini_cli import is_head
from timemachine.recording.importing.pure.values import text_at


def held_from(lines: Sequence[Line], idle: float) -> int:  # noqa: ARG001  # a message has no mark of its end
    """Return the index of the first line of the latest message, which is written again when it changes."""
    last = next((line.record for line in reversed(lines) if not is_head(line.record)), None)
    if last is None:
        return 0
    return next(at for at, line in enumerate(lines) if not is_head(line.record) and _same(line.record, last))


def _same(record: JsonObject, other: JsonObject) -> bool:
    return record is other or (text_at(record, "id") is not None and record.get("id") == other.get("id"))


def needed(lines: Sequence[Line]) -> set[int]:
    """Return the indexes of the lines about the session before its first message and of the last one about its summary, of
    the first prompt, and of the latest message."""
    first = next((at for at, line in enumerate(lines) if not is_head(line.record)), len(lines))
    prompt = [at for at, line in enumerate(lines) if line.record.get("type") == "user"][:1]
    latest = held_from(lines, 0.0) if first < len(lines) else first
    changes = [at for at, line in enumerate(lines) if "summary" in _change(line.record)][-1:]
    return {*range(first), *prompt, *changes, *range(latest, len(lines))}


def _change(record: JsonObject) -> JsonObject:
    found = record.get("$set")
    return found if isinstance(found, dict) else {}
