"""The lines of a spool: actions as they are sent, and the end of a session with its time."""

import json
import time
from typing import Any, Final

from timemachine.client.recording.fitting import fitted, iso
from timemachine.client.recording.snapshot import safe_repr, thawed, written
from timemachine.core.pure.json_types import JsonObject

_SHOWN: Final = 200
_LONGEST_WHY: Final = 1_000
END: Final = b"!end"
"""The beginning of an end line; the time follows if it is known."""


def end_line() -> bytes:
    """The line for a session that ends now."""
    return END + b" " + iso(time.time_ns()).encode()


def is_end(line: bytes) -> bool:
    """Whether a line is the end of a session; actions begin with a brace."""
    return line.startswith(END)


def ended_at(line: bytes) -> str | None:
    """The time in an end line, or None."""
    return line.removeprefix(END).strip().decode() or None


def line_of(action: JsonObject) -> bytes:
    """The line of an action."""
    return json.dumps(action, separators=(",", ":"), allow_nan=False).encode()


def line_of_frozen(data: bytes) -> bytes:
    """The line of a frozen action; an event with the error if it cannot be written."""
    action = thawed(data)
    try:
        made = {name: value for name, value in action.items() if value is not None}
        if "started_at" in made:
            made["started_at"] = iso(made["started_at"])
        return line_of(fitted(written(made)))
    except (RecursionError, MemoryError, ValueError, TypeError, KeyError, OSError, OverflowError) as why:
        return line_of(_event("recorder.failed", str(action.get("id")), safe_repr(why)))


def lost_line(lost: int) -> bytes:
    """The event about lost actions."""
    return line_of(_event("recorder.lost", f"lost:{time.time_ns()}", {"actions": lost}))


def refused_line(line: bytes, why: str) -> bytes:
    """The event in place of a refused action: its kind, size and the reason, without its content."""
    action = json.loads(line)
    named = {name: action[name] for name in ("kind", "layer", "role", "tool", "id") if name in action}
    facts = {name: each[:_SHOWN] for name, each in named.items() if isinstance(each, str)}
    event = _event("recorder.refused", f"{str(action.get('id'))[:_SHOWN]}:refused", None)
    position = {name: action[name] for name in ("parent", "started_at") if name in action}
    return line_of(
        position | event | {"output": {"action": facts, "bytes": len(line), "why": why[:_LONGEST_WHY]}}
    )


def _event(name: str, action_id: str, output: Any) -> JsonObject:
    return {
        "kind": "event",
        "layer": "agent",
        "role": "system",
        "name": name,
        "id": action_id,
        "significance": "error",
        "output": output,
    }
