"""An action in the fields that the API has. What has no place there is kept as it was given, in `parameters` under `as_given`.

So neither a field that there is not, nor a provider's own words for its tokens, nor a value of a wrong type costs the call that it came with.
"""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from timemachine.client.errors import Refused
from timemachine.client.recording.usage import counts

log = logging.getLogger(__name__)

FIELDS: Final = frozenset(
    {
        "kind", "id", "layer", "role", "agent", "name", "tool", "call_id", "parent", "significance", "importance", "iteration", "tags",
        "started_at", "duration_ms", "input", "output", "error", "model", "parameters", "usage", "cost_usd", "prices", "cached",
        "saved_usd", "cached_from", "grounding", "retrieval",
    }
)  # fmt: skip
"""The fields of an action, as the API has them."""
SAME_ROLE: Final = {"assistant": "agent", "model": "agent", "human": "user", "developer": "system"}
"""Other words for roles, as chats and models use them."""
AS_GIVEN: Final = "as_given"
_SECONDS: Final = range(-2_208_988_800, 221_845_392_000)  # 1900 to 9000, as the server takes them
NANOSECONDS: Final = range(10**17, _SECONDS.stop * 10**9)
"""Whole numbers that are nanoseconds since 1970: those of 1973 to 9000. As seconds they would lie beyond all calendars."""
_NEEDED: Final = "id"
_ERROR: Final = ("type", "message")
_UNKNOWN: Final = "unknown"
TOLD: Final[set[str]] = set()
"""The fields of which this process has said that a value does not fit."""


def nanoseconds(given: Any) -> int | None:
    """A moment since 1970: a `datetime` (local where it has no zone), the same as ISO text, or seconds; None where it is none of these."""
    try:
        if isinstance(given, str):
            given = datetime.fromisoformat(given)
        if isinstance(given, datetime):
            given = given.timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if type(given) is int and given in NANOSECONDS:
        return given
    return round(given * 1e9) if _SECONDS.start <= given < _SECONDS.stop else None


def set_apart(action: dict[str, Any], names: Any) -> None:
    """Move fields of an action to where they are kept as they were given."""
    apart = {name: action.pop(name) for name in names}
    if not isinstance(action.get("parameters"), Mapping):
        other = action.pop("parameters", None)
        apart |= {} if other is None else {"parameters": other}
    if "kind" in apart:
        action["kind"] = "event"
    kept = dict(action.get("parameters") or {})
    there = kept.get(AS_GIVEN)
    kept[AS_GIVEN] = {**(there if isinstance(there, Mapping) else {}), **apart}
    action["parameters"] = kept


def fitted(action: dict[str, Any]) -> dict[str, Any]:
    """An action as JSON has it, with its tokens in our words, its tags as a list and its error as an object.

    An error that does not say what went wrong in our words is one of unknown type.
    """
    if "usage" in action:
        found = counts(action["usage"])
        if found != _said(action["usage"]):
            set_apart(action, ["usage"])
            action |= {"usage": found} if found else {}
            if not found:
                _tell("usage")
    if isinstance(action.get("tags"), str):
        action["tags"] = [action["tags"]]
    error = action.get("error")
    if isinstance(error, str):
        action["error"] = {"message": error}
    elif isinstance(error, Mapping) or error:
        _fit_error(action, error)
    return action


def _fit_error(action: dict[str, Any], given: Any) -> None:
    """What failed counts as failed, whatever its error holds; one that holds more or less than it can stands beside as it was given."""
    said = _said(given)
    words = said if isinstance(said, Mapping) else {}
    found = {name: words[name] for name in _ERROR if isinstance(words.get(name), str)}
    if not found or found != said:
        set_apart(action, ["error"])
        action["error"] = found or {"type": _UNKNOWN}
        _tell("error")


def refitted(lines: list[bytes], why: Refused) -> list[bytes] | None:
    """Actions that the server refused, without the fields that it named; None where it named none that can go."""
    named = _named(why, alone=len(lines) == 1)
    made, moved = [], False
    for number, line in enumerate(lines):
        names = named.get(number, set())
        action = json.loads(line) if names else {}
        names = {name for name in names if name in action and name != _NEEDED and not _is_kept(action, name)}
        if names:
            set_apart(action, sorted(names))
            for name in sorted(names):
                _tell(name)
            line, moved = json.dumps(action, separators=(",", ":")).encode(), True  # noqa: PLW2901  # the line that goes instead
        made.append(line)
    return made if moved else None


def iso(moment: int) -> str:
    """Nanoseconds since 1970 as the API has a time."""
    return datetime.fromtimestamp(moment / 1e9, UTC).isoformat()


def _said(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return given
    return {name: value for name, value in given.items() if value is not None}


def _tell(field: str) -> None:
    """Log once in a process that a field was given what it cannot have."""
    if field not in TOLD:
        TOLD.add(field)
        log.warning(
            "`%s` of an action cannot be what was given; it stands in the action's parameters, under `%s`.",
            field,
            AS_GIVEN,
        )


def _is_kept(action: dict[str, Any], name: str) -> bool:
    """Whether this is where we keep things already, or a kind that fits all."""
    held = action[name]
    return (name == "parameters" and isinstance(held, dict) and set(held) == {AS_GIVEN}) or held == "event"


def _named(why: Refused, *, alone: bool) -> dict[int, set[str]]:
    """The fields that the server refuses of each action, by its place."""
    found: dict[int, set[str]] = {}
    for problem in why.facts.get("problems") or ():
        first, number, name, *_ = [*str(problem.get("field", "")).split("."), "", "", ""]
        if first == "actions" and number.isdigit() and name:
            found.setdefault(int(number), set()).add(name)
    field = why.facts.get("field")
    if alone and isinstance(field, str):
        found.setdefault(0, set()).add(field.split(".")[0])
    return found
