"""Sessions of memvid, as printed by `memvid session view --json`.

The report counts actions, checkpoints, and the rest of the session, which becomes a final `event`. memvid stores 512
bytes of each input and output, and whole seconds.
"""

from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted
from timemachine.recording.importing.pure.drafts import Ids, id_with_digest, session_draft, system_event
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import (
    count_at,
    list_at,
    milliseconds,
    model_name,
    moment_after_1970,
    record_at,
    short_text_at,
    text_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.recording.sessions.pure.vocabulary import MODES

NAME: Final = "memvid"
TITLE: Final = "memvid session (JSON from session view)"
_KINDS: Final = {
    "put": "put",
    "putmany": "put",
    "find": "find",
    "ask": "ask",
    "checkpoint": "checkpoint",
    "update": "memory_op",
    "delete": "memory_op",
    "toolcall": "tool_call",
}
_MODES: Final = {"lex": "lexical", "vec": "semantic", "sem": "semantic", "auto": "hybrid"} | {
    mode: mode for mode in MODES
}


def recognises(opening: Opening) -> bool:
    """Return whether it is a session with actions of memvid's types."""
    found = opening.fields
    return "created_secs" in found and "session_id" in found and isinstance(found.get("actions"), list)


def read(reader: Reader) -> ParsedFile:
    """Return the session. Raises `InvalidInput` if it has no actions."""
    found = reader.json_object()
    if not isinstance(found.get("actions"), list):
        raise reader.refusal("it has no `actions`.")
    ids = Ids()
    checkpoints = {
        each.get("id"): each
        for each in list_at(found, "checkpoints")
        if isinstance(each, dict) and _is_id(each.get("id"))
    }
    actions = _actions(found, checkpoints, reader, ids)
    for _ in range(len(list_at(found, "checkpoints")) - len(checkpoints)):
        reader.skip("It is not a checkpoint with a unique id.")
    reader.use()
    rest = {name: value for name, value in found.items() if name not in {"actions", "checkpoints"}}
    end = system_event("session", ids.claim(id_with_digest("session", rest)), source=rest, output=rest)
    session = session_draft(
        reader.key(short_text_at(found, "session_id"), found),
        [*actions, end],
        name=text_at(found, "name"),
        agent=NAME,
        started_at=moment_after_1970(found.get("created_secs")),
        ended_at=moment_after_1970(found.get("ended_secs")),
        metadata=record_at(found, "metadata"),
    )
    return reader.parsed([session])


def _is_id(value: Any) -> bool:
    return isinstance(value, int | str)


def _actions(
    found: JsonObject, checkpoints: dict[Any, JsonObject], reader: Reader, ids: Ids
) -> list[ActionDraft]:
    """Return the actions in order. A checkpoint has an action and a record of its own; together they become one action."""
    actions = []
    merged = 0
    remaining = dict(checkpoints)
    for record in found["actions"]:
        if not reader.takes(record, "an action"):
            continue
        kind, about = _type(record)
        action = _action(record, kind, about, ids)
        own = (
            remaining.pop(about.get("id"), None) if kind == "checkpoint" and _is_id(about.get("id")) else None
        )
        if own is not None:
            reader.use()
            merged += 1
            action = replace(
                action, name=short_text_at(own, "name"), output=own.get("snapshot"), source=[record, own]
            )
        actions.append(action)
    if merged:
        reader.notes.append(
            f"{counted(merged, 'checkpoint')} repeated an action. Each is stored in the source of that action."
        )
    for own in remaining.values():
        reader.use()
        actions.append(_checkpoint(own, ids))
    return actions


def _type(record: JsonObject) -> tuple[str, JsonObject]:
    """Return the lower-case type and its fields, from `{"Find": {…}}`, `{"type": "find", …}`, or the name alone."""
    written = record.get("action_type")
    if isinstance(written, dict) and isinstance(written.get("type"), str):
        return _plain(written["type"]), written
    if isinstance(written, dict) and len(written) == 1:
        ((name, about),) = written.items()
        return _plain(name), about if isinstance(about, dict) else {}
    return _plain(written if isinstance(written, str) else "unknown"), {}


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _action(record: JsonObject, kind: str, about: JsonObject, ids: Ids) -> ActionDraft:
    base = ActionDraft(
        kind=_KINDS.get(kind, "event"),
        id=ids.claim(id_with_digest(f"action-{count_at(record, 'sequence')}", record)),
        layer="agent",
        role="agent",
        agent=NAME,
        name=None if kind in _KINDS else kind[:80],
        started_at=moment_after_1970(record.get("timestamp_secs")),
        duration_ms=milliseconds(record.get("duration_ms")),
        input=text_at(record, "input_preview") or about or None,
        output=text_at(record, "output_preview"),
        source=record,
    )
    if kind == "find":
        return replace(base, input=text_at(about, "query") or base.input, retrieval=_retrieval(record, about))
    if kind == "ask":
        full = model_name(short_text_at(about, "model"), short_text_at(about, "provider"))
        return replace(base, input=text_at(about, "query") or base.input, model=full)
    if kind in {"update", "delete"}:
        return replace(base, name=kind, input=about or None)
    return replace(base, layer="tool", tool=short_text_at(about, "name")) if kind == "toolcall" else base


def _retrieval(record: JsonObject, about: JsonObject) -> RetrievalDraft:
    frames = [
        each
        for each in list_at(record, "affected_frames")
        if isinstance(each, int | str) and not isinstance(each, bool)
    ]
    usable = [each for each in frames if not isinstance(each, int) or 0 <= each < 2**63]
    return RetrievalDraft(
        mode=_MODES.get((text_at(about, "mode") or "").lower()),
        hits=tuple(HitDraft(rank=rank, frame=frame) for rank, frame in enumerate(usable, start=1)),
    )


def _checkpoint(record: JsonObject, ids: Ids) -> ActionDraft:
    return ActionDraft(
        kind="checkpoint",
        id=ids.claim(id_with_digest("checkpoint", record)),
        layer="agent",
        role="agent",
        agent=NAME,
        name=short_text_at(record, "name"),
        started_at=moment_after_1970(record.get("timestamp_secs")),
        output=record.get("snapshot"),
        source=record,
    )
