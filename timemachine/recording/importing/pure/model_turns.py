"""A model call and what the model wrote, from tools that record both as one message."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import Ids
from timemachine.recording.sessions.pure.draft import ActionDraft


def speaker(role: str, base: ActionDraft) -> ActionDraft:
    """Return the action as a message of the user, the agent or the system."""
    return replace(
        base, kind="message", layer="sys" if role == "system" else "agent", role=role, name=None, tool=None
    )


def thought(base: ActionDraft, text: Any) -> ActionDraft:
    """Return the action as what the model thought before it answered."""
    return replace(speaker("agent", base), name="thinking", tags=(*base.tags, "thinking"), output=text)


def model_turn(call: ActionDraft, parts: Iterable[ActionDraft], ids: Ids) -> list[ActionDraft]:
    """Return the call and its parts as children, with ids made from that of the call.

    A `tool_result` belongs to the `tool_call` before it. The ids of the other parts do not change when it is added.
    The call's id must be claimed already.
    """
    made = [call]
    place, called = 0, call.id
    for part in parts:
        if part.kind == "tool_result":
            made.append(replace(part, id=ids.claim(f"{called}/result"), parent=called, source=None))
            continue
        place += 1
        made.append(replace(part, id=ids.claim(f"{call.id}/{place}"), parent=call.id, source=None))
        called = made[-1].id if part.kind == "tool_call" else called
    return made


def turn_or_parts(call: ActionDraft, parts: Iterable[ActionDraft], ids: Ids) -> list[ActionDraft]:
    """Return the same as `model_turn`, but only the parts if the call is of another kind than `llm_call`.

    The first action then has the source.
    """
    made = model_turn(call, parts, ids)
    if call.kind == "llm_call":
        return made
    rest = [replace(each, parent=None) if each.parent == call.id else each for each in made[1:]]
    if not rest:
        return [replace(call, kind="message")]
    return [replace(rest[0], source=call.source), *rest[1:]]


def written(**parts: Any) -> JsonObject | None:
    """Return the parts of an answer that are not empty, by their names; None if there are none."""
    return {name: value for name, value in parts.items() if value not in (None, "", [], {})} or None
