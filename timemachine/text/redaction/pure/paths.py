"""Fields by their path: `agent`, `input.messages[*].content`, `retrieval.hits[*].metadata.*`, `session.user`."""

import re
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.text.redaction.pure.marks import FIELD, REPEATS, REPEATS_ERASED, erased, mark

_FIELDS: Final = (
    "id agent name tool call_id copied_from tags metadata input output error parameters grounding retrieval "
    "cached_from source"
)
OF_ACTION: Final = tuple(_FIELDS.split())
"""The fields of a step that can be withheld. Kind and times cannot, or there would be no timeline."""
OF_SESSION: Final = ("key", "name", "agent", "user", "metadata", "tags")
SESSION: Final = "session"
ERASED_KEY: Final = re.compile("erased-[0-9a-f]{8}")
"""Replaces an erased session key, which must be unique."""
LONGEST: Final = 200
ANY: Final = "*"
_SHAPED: Final = frozenset(
    {"error", "parameters", "grounding", "retrieval", "cached_from", "copied_from", "metadata"}
)
_MARKS: Final = (mark(FIELD), mark(REPEATS), erased(FIELD), erased(REPEATS_ERASED))
_NAME: Final = re.compile("[A-Za-z0-9_$@:/-]+")
_PART: Final = re.compile(
    r"""\.?(?:(?P<name>[A-Za-z0-9_$@:/-]+)|(?P<any>\*)|\[(?P<item>\*|[0-9]{1,6})\]|\["(?P<key>[^"\[\]]{1,100})"\])"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A field of a step, or of its session if `of_session`. `steps` lead from it inwards; `*` means all."""

    of_session: bool
    field: str
    steps: tuple[str | int, ...] = ()


def parse_path(written: str) -> Path | None:
    """Parse a path. Return None if it is not one, or does not name a field that can be withheld."""
    parts = _parts(written)
    of_session = parts[:1] == [SESSION]
    field, *steps = (parts[1:] if of_session else parts) or [""]
    known = OF_SESSION if of_session else OF_ACTION
    return Path(of_session=of_session, field=str(field), steps=tuple(steps)) if field in known else None


def path_part(name: str) -> str:
    """Return an object key as part of a path."""
    return f".{name}" if _NAME.fullmatch(name) else f'["{name}"]'


def withhold(value: Any, path: Path) -> tuple[Any, int]:
    """Return the value of the path's field without what the path leads to, and how many values were withheld.

    None stays None, and what is already withheld or erased stays as it is. If a field always has the form of a list or
    an object, that form stays: `tags` stays a list.
    """
    if path.steps:
        return _within(value, path.steps)
    if _is_erased(path, value):
        return value, 0
    return _in_form(path.field, value, mark(FIELD)), 1


def _is_erased(path: Path, value: Any) -> bool:
    """Return whether nothing of a field is left. Some fields keep their form when they are erased."""
    if value is None or any(value in (each, _in_form(path.field, value, each)) for each in _MARKS):
        return True
    if path.field == "error":
        return value in [{"type": None, "message": each} for each in _MARKS]
    if path.field == "copied_from":
        return bool(value == {"session": None, "step": None})
    if path.field == "metadata":
        return bool(value == {})
    if path.of_session and path.field == "key":
        return ERASED_KEY.fullmatch(str(value)) is not None
    return path.field == "retrieval" and isinstance(value, dict) and _is_empty(value)


def _is_empty(found: JsonObject) -> bool:
    """Return whether a find, or one of its passages, says nothing except how many passages there were."""
    return all(
        inner is None or name == "rank" or (name == "hits" and _are_empty(inner))
        for name, inner in found.items()
    )


def _are_empty(hits: Any) -> bool:
    return isinstance(hits, list) and all(isinstance(each, dict) and _is_empty(each) for each in hits)


def _in_form(field: str, value: Any, says: str) -> Any:
    if isinstance(value, list) and field == "tags":
        return [says] if value else value
    return {"withheld": says} if isinstance(value, dict) and field in _SHAPED else says


def _within(value: Any, steps: tuple[str | int, ...]) -> tuple[Any, int]:
    """Return the value without what the steps lead to; without steps, a mark."""
    if not steps:
        return (value, 0) if _is_erased_within(value) else (mark(FIELD), 1)
    step, further = steps[0], steps[1:]
    if isinstance(value, dict):
        chosen = [key for key in value if step in (ANY, key)]
    elif isinstance(value, list):
        chosen = [place for place in range(len(value)) if step in (ANY, place)]
    else:
        return value, 0
    done = {key: _within(value[key], further) for key in chosen}
    number = sum(count for _, count in done.values())
    if not number:
        return value, 0
    if isinstance(value, dict):
        return {key: done[key][0] if key in done else inner for key, inner in value.items()}, number
    return [done[place][0] if place in done else inner for place, inner in enumerate(value)], number


def _is_erased_within(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_bare_hit(each) for each in value)
    return value is None or value in _MARKS or _is_bare_hit(value)


def _is_bare_hit(value: Any) -> bool:
    """Return whether the value is an erased passage, of which only the rank is left."""
    return isinstance(value, dict) and "rank" in value and "text" in value and _is_empty(value)


def _parts(written: str) -> list[Any]:
    """Return the names, indexes and stars of a path in order. Empty if it is not a path."""
    parts: list[Any] = []
    end = 0
    while end < len(written):
        found = _PART.match(written, end)
        if found is None or (not end and written[0] in ".[*"):
            return []
        if end and found["name"] and written[end] != ".":
            return []
        item = found["item"]
        parts.append(
            int(item) if item and item != ANY else item or found["any"] or found["key"] or found["name"]
        )
        end = found.end()
    return parts
