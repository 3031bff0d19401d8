"""What the new lines of a growing file add to the lines before."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.sessions.pure.draft import ActionDraft

_MADE_OF_CONTENT: Final = re.compile(r"(?:line|call)-[0-9a-f]{16}")
_TIMES: Final = re.compile(r"~[0-9]+\Z")


def new_actions(
    actions: Sequence[ActionDraft], before: Sequence[ActionDraft]
) -> tuple[list[ActionDraft], list[ActionDraft]]:
    """Return the actions that the lines before do not have, and those that these have otherwise: they may state more tokens now."""
    known = {each.id: each for each in before}
    new = [each for each in actions if each.id not in known]
    again = [each for each in actions if each.id in known and each != known[each.id]]
    return new, again


def with_free_ids(
    actions: Sequence[ActionDraft], taken: Callable[[Sequence[str]], Collection[str]]
) -> list[ActionDraft]:
    """Return the new actions, in which an id that was made of a line's content is another one if an equal line had it before.

    `taken` returns which of the ids steps have that were recorded before.
    """
    mine = [each.id for each in actions if each.id is not None and _MADE_OF_CONTENT.match(each.id)]
    used = set(taken(mine)) if mine else set()
    given: set[str] = set()
    renamed: dict[str, str] = {}
    for name in mine:
        free, times = name, 1
        while free in used or free in given:
            times += 1
            free = f"{_TIMES.sub('', name)}~{times}"
            used.update(taken([free]))
        given.add(free)
        renamed[name] = free
    return [
        replace(
            each,
            id=renamed.get(each.id, each.id) if each.id else None,
            parent=renamed.get(each.parent, each.parent) if isinstance(each.parent, str) else each.parent,
        )
        for each in actions
    ]


def joined_metadata(recorded: JsonObject, stated: JsonObject) -> JsonObject:
    """Return the metadata with what later lines state: a list of the values if they are others."""
    joined: dict[str, Any] = dict(recorded)
    for name, value in stated.items():
        there = recorded.get(name)
        values = [*_as_list(there), *(each for each in _as_list(value) if each not in _as_list(there))]
        joined[name] = there if there == value else values[0] if len(values) == 1 else values
    return joined


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
