"""Fit an action into the fields of the API. What does not fit is stored as given, in `parameters` under `as_given`.

So an unknown field, a provider's own names for tokens or a value of a wrong type does not lose the action.
"""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from timemachine.client.errors import Refused
from timemachine.client.recording.usage import counts
from timemachine.core.pure.json_types import JsonObject

log = logging.getLogger(__name__)

FIELDS: Final = frozenset(
    {
        "kind", "id", "layer", "role", "agent", "name", "tool", "call_id", "parent", "copied_from", "significance", "importance", "iteration",
        "tags", "metadata", "started_at", "duration_ms", "input", "output", "error", "model", "parameters", "usage", "cost_usd", "prices", "cached",
        "saved_usd", "cached_from", "grounding", "retrieval",
    }
)  # fmt: skip
"""The fields of an action in the API."""
SAME_ROLE: Final = {"assistant": "agent", "model": "agent", "human": "user", "developer": "system"}
"""Names of roles in chats and models."""
AS_GIVEN: Final = "as_given"
_SECONDS: Final = range(-2_208_988_800, 221_845_392_000)  # 1900 to 9000, the range of the server
NANOSECONDS: Final = range(10**17, _SECONDS.stop * 10**9)
"""Integers that are taken as nanoseconds since 1970 (1973 to 9000); as seconds they would be out of range."""
_NEEDED: Final = "id"
_ERROR: Final = ("type", "message")
_UNKNOWN: Final = "unknown"
LOGGED: Final[set[str]] = set()
"""The fields about which this process has logged a value that does not fit."""


def nanoseconds(given: Any) -> int | None:
    """Nanoseconds since 1970 of a `datetime` (local without a zone), ISO text or seconds; None for anything else."""
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


def move_to_parameters(action: JsonObject, names: Any) -> None:
    """Move fields of an action into its parameters, as they were given."""
    moved = {name: action.pop(name) for name in names}
    if not isinstance(action.get("parameters"), Mapping):
        other = action.pop("parameters", None)
        moved |= {} if other is None else {"parameters": other}
    if "kind" in moved:
        action["kind"] = "event"
    parameters = dict(action.get("parameters") or {})
    there = parameters.get(AS_GIVEN)
    parameters[AS_GIVEN] = {**(there if isinstance(there, Mapping) else {}), **moved}
    action["parameters"] = parameters


def fitted(action: JsonObject) -> JsonObject:
    """An action in JSON types, with usage in our names, tags as a list and the error as an object.

    An error without a usable type or message has the type `unknown`.
    """
    if "usage" in action:
        found = counts(action["usage"])
        if found != _without_none(action["usage"]):
            move_to_parameters(action, ["usage"])
            action |= {"usage": found} if found else {}
            if not found:
                _log_once("usage")
    if isinstance(action.get("tags"), str):
        action["tags"] = [action["tags"]]
    error = action.get("error")
    if isinstance(error, str):
        action["error"] = {"message": error}
    elif isinstance(error, Mapping) or error:
        _fit_error(action, error)
    return action


def _fit_error(action: JsonObject, given: Any) -> None:
    """Fit the error of an action; what does not fit is stored as given, and the action still counts as failed."""
    error = _without_none(given)
    texts = error if isinstance(error, Mapping) else {}
    found = {name: texts[name] for name in _ERROR if isinstance(texts.get(name), str)}
    if not found or found != error:
        move_to_parameters(action, ["error"])
        action["error"] = found or {"type": _UNKNOWN}
        _log_once("error")


def refitted(lines: list[bytes], why: Refused) -> list[bytes] | None:
    """Refused actions without the fields that the server named; None if it named none that can be moved."""
    named = _named(why, alone=len(lines) == 1)
    made, moved = [], False
    for number, line in enumerate(lines):
        names = named.get(number, set())
        action = json.loads(line) if names else {}
        names = {name for name in names if name in action and name != _NEEDED and not _is_moved(action, name)}
        if names:
            move_to_parameters(action, sorted(names))
            for name in sorted(names):
                _log_once(name)
            line, moved = json.dumps(action, separators=(",", ":")).encode(), True  # noqa: PLW2901  # the replacement
        made.append(line)
    return made if moved else None


def iso(moment: int) -> str:
    """Nanoseconds since 1970 as an RFC 3339 time."""
    return datetime.fromtimestamp(moment / 1e9, UTC).isoformat()


def _without_none(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return given
    return {name: value for name, value in given.items() if value is not None}


def _log_once(field: str) -> None:
    """Log a field with a value that does not fit, once in a process."""
    if field not in LOGGED:
        LOGGED.add(field)
        log.warning(
            "Invalid value for `%s` of an action. It is stored in the parameters under `%s`.",
            field,
            AS_GIVEN,
        )


def _is_moved(action: JsonObject, name: str) -> bool:
    """Whether the field already is what we moved, or the kind that always fits."""
    value = action[name]
    return (name == "parameters" and isinstance(value, dict) and set(value) == {AS_GIVEN}) or value == "event"


def _named(why: Refused, *, alone: bool) -> dict[int, set[str]]:
    """The fields that the server refused, by the position of the action."""
    found: dict[int, set[str]] = {}
    for problem in why.facts.get("problems") or ():
        first, number, name, *_ = [*str(problem.get("field", "")).split("."), "", "", ""]
        if first == "actions" and number.isdigit() and name:
            found.setdefault(int(number), set()).add(name)
    field = why.facts.get("field")
    if alone and isinstance(field, str):
        found.setdefault(0, set()).add(field.split(".")[0])
    return found
