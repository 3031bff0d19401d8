"""The lines of a spool: an action as it is sent, and the end of a session with the moment at which it ended."""

import json
import time
from typing import Any, Final

from timemachine.client.recording.fitting import fitted, iso
from timemachine.client.recording.snapshot import said, thawed, written

_SHOWN: Final = 200
_LONGEST_WHY: Final = 1_000
END: Final = b"!end"
"""What the line of an end begins with; the moment follows, where it is known."""


def end_line() -> bytes:
    """The end of a session that ends now."""
    return END + b" " + iso(time.time_ns()).encode()


def is_end(line: bytes) -> bool:
    """Whether a line is a session's end; an action begins with a brace."""
    return line.startswith(END)


def ended_at(line: bytes) -> str | None:
    """When a session ended, as the line of its end has it; None where that does not say so."""
    return line.removeprefix(END).strip().decode() or None


def line_of(action: dict[str, Any]) -> bytes:
    """An action as its line."""
    return json.dumps(action, separators=(",", ":"), allow_nan=False).encode()


def line_of_frozen(data: bytes) -> bytes:
    """A frozen action as its line; one that cannot be written is an event that says so."""
    action = thawed(data)
    try:
        made = {name: value for name, value in action.items() if value is not None}
        if "started_at" in made:
            made["started_at"] = iso(made["started_at"])
        return line_of(fitted(written(made)))
    except (RecursionError, MemoryError, ValueError, TypeError, KeyError, OSError, OverflowError) as why:
        return line_of(_event("recorder.failed", str(action.get("id")), said(why)))


def lost_line(lost: int) -> bytes:
    """What a session says of so many actions that found no place."""
    return line_of(_event("recorder.lost", f"lost:{time.time_ns()}", {"actions": lost}))


def refused_line(line: bytes, why: str) -> bytes:
    """What a session says in the place of an action that the server cannot take: what it was, how large and why, without what it held."""
    action = json.loads(line)
    named = {name: action[name] for name in ("kind", "layer", "role", "tool", "id") if name in action}
    facts = {name: each[:_SHOWN] for name, each in named.items() if isinstance(each, str)}
    event = _event("recorder.refused", f"{str(action.get('id'))[:_SHOWN]}:refused", None)
    beside = {name: action[name] for name in ("parent", "started_at") if name in action}
    return line_of(
        beside | event | {"output": {"action": facts, "bytes": len(line), "why": why[:_LONGEST_WHY]}}
    )


def _event(name: str, action_id: str, output: Any) -> dict[str, Any]:
    return {
        "kind": "event",
        "layer": "agent",
        "role": "system",
        "name": name,
        "id": action_id,
        "significance": "error",
        "output": output,
    }
