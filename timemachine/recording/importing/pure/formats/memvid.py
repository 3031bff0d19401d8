"""Sessions of memvid, as `memvid session view --json` prints them. Pure.

A record of the report is an action, a checkpoint, or the rest of the session, which becomes an `event` at the end. memvid keeps 512
bytes of what went in and came out, and whole seconds.
"""

from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.numbers import counted
from timemachine.recording.importing.pure.document import document_of
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Imported, Ledger
from timemachine.recording.importing.pure.session_builder import (
    Ids,
    Keys,
    hopeless,
    marked,
    only_object,
    session_of,
)
from timemachine.recording.importing.pure.values import (
    count_at,
    list_at,
    milliseconds,
    moment_after_1970,
    named,
    record_at,
    text_at,
    word_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.recording.sessions.pure.vocabulary import MODES

NAME: Final = "memvid"
TITLE: Final = "a memvid session (the JSON of session view)"
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
    """Whether it is a session with actions of memvid's types."""
    found = opening.fields
    return "created_secs" in found and "session_id" in found and isinstance(found.get("actions"), list)


def read(data: Contents) -> Imported:
    """The session. Raises `InvalidInput` where it has no actions."""
    found = only_object(document_of(data, TITLE), TITLE)
    if not isinstance(found.get("actions"), list):
        raise hopeless(TITLE, "it has no `actions`.")
    ledger, ids = Ledger(), Ids()
    kept = {
        each.get("id"): each
        for each in list_at(found, "checkpoints")
        if isinstance(each, dict) and _is_id(each.get("id"))
    }
    actions = _actions(found, kept, ledger, ids)
    merged = len(list_at(found, "checkpoints")) - len(kept)
    for _ in range(merged):
        ledger.skip("It is no checkpoint with an id of its own.")
    ledger.use()
    rest = {name: value for name, value in found.items() if name not in {"actions", "checkpoints"}}
    end = ActionDraft(
        kind="event",
        id=ids.claim(marked("session", rest)),
        layer="sys",
        role="system",
        name="session",
        output=rest,
        source=rest,
    )
    session = session_of(
        Keys(NAME).of(word_at(found, "session_id"), found),
        [*actions, end],
        name=text_at(found, "name"),
        agent=NAME,
        started_at=moment_after_1970(found.get("created_secs")),
        ended_at=moment_after_1970(found.get("ended_secs")),
        metadata=record_at(found, "metadata"),
    )
    return ledger.account([session])


def _is_id(value: Any) -> bool:
    return isinstance(value, int | str)


def _actions(
    found: dict[str, Any], kept: dict[Any, dict[str, Any]], ledger: Ledger, ids: Ids
) -> list[ActionDraft]:
    """The actions in their order; a checkpoint is told by its action and by its own record, and is one action."""
    actions = []
    told = 0
    left = dict(kept)
    for record in found["actions"]:
        if not isinstance(record, dict):
            ledger.skip("It is no action: no object.")
            continue
        ledger.use()
        kind, about = _type(record)
        action = _action(record, kind, about, ids)
        own = left.pop(about.get("id"), None) if kind == "checkpoint" and _is_id(about.get("id")) else None
        if own is not None:
            ledger.use()
            told += 1
            action = replace(
                action, name=word_at(own, "name"), output=own.get("snapshot"), source=[record, own]
            )
        actions.append(action)
    if told:
        ledger.notes.append(
            f"{counted(told, 'checkpoint')} told an action again; each is kept in its source."
        )
    for own in left.values():
        ledger.use()
        actions.append(_checkpoint(own, ids))
    return actions


def _type(record: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The type in small letters and what it says: `{"Find": {…}}`, `{"type": "find", …}`, or the name alone."""
    told = record.get("action_type")
    if isinstance(told, dict) and isinstance(told.get("type"), str):
        return _plain(told["type"]), told
    if isinstance(told, dict) and len(told) == 1:
        ((name, about),) = told.items()
        return _plain(name), about if isinstance(about, dict) else {}
    return _plain(told if isinstance(told, str) else "unknown"), {}


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _action(record: dict[str, Any], kind: str, about: dict[str, Any], ids: Ids) -> ActionDraft:
    base = ActionDraft(
        kind=_KINDS.get(kind, "event"),
        id=ids.claim(marked(f"action-{count_at(record, 'sequence')}", record)),
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
        return replace(base, input=text_at(about, "query") or base.input, retrieval=_found(record, about))
    if kind == "ask":
        full = named(word_at(about, "model"), word_at(about, "provider"))
        return replace(base, input=text_at(about, "query") or base.input, model=full)
    if kind in {"update", "delete"}:
        return replace(base, name=kind, input=about or None)
    return replace(base, layer="tool", tool=word_at(about, "name")) if kind == "toolcall" else base


def _found(record: dict[str, Any], about: dict[str, Any]) -> RetrievalDraft:
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


def _checkpoint(record: dict[str, Any], ids: Ids) -> ActionDraft:
    return ActionDraft(
        kind="checkpoint",
        id=ids.claim(marked("checkpoint", record)),
        layer="agent",
        role="agent",
        agent=NAME,
        name=word_at(record, "name"),
        started_at=moment_after_1970(record.get("timestamp_secs")),
        output=record.get("snapshot"),
        source=record,
    )
