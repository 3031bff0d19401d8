"""Sessions that this product exported: a line about the session, then a line for each action, in order, as it was recorded. Pure.

All of a file is read or nothing: actions name each other by their numbers, so none may be missing. A value that an erasure put a
mark in is kept with its mark.
"""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.content import MAX_DEPTH
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.ids import uuid_of
from timemachine.recording.importing.pure.jsonl import Line, lines_of
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Imported, Ledger, SessionDraft
from timemachine.recording.importing.pure.session_builder import hopeless
from timemachine.recording.importing.pure.values import number
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.sessions.pure.validation import LARGEST_INTEGER, check_action, check_key

NAME: Final = "timemachine"
TITLE: Final = "a session exported from Time Machine (JSON lines)"
FORMAT: Final = "timemachine-session"
VERSION: Final = 1
DEEPEST: Final = MAX_DEPTH + 8
"""A payload may be as deep as any document, and stands some levels down in its action."""
_TEXT: Final = (str,)
_NUMBER: Final = (int, float)
_WHOLE: Final = (int,)
_OBJECT: Final = (dict,)
_ABOUT: Final[dict[str, tuple[type, ...]]] = {
    "name": _TEXT, "agent": _TEXT, "user": _TEXT, "status": _TEXT, "metadata": _OBJECT, "through": _WHOLE,
}  # fmt: skip
_ACTION: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(
        ("kind", "id", "layer", "role", "agent", "name", "tool", "call_id", "significance", "model"), _TEXT
    ),
    "parent": (str, int),
    **dict.fromkeys(("importance", "duration_ms"), _NUMBER),
    "iteration": _WHOLE,
    **dict.fromkeys(("parameters", "prices", "cached_from", "grounding"), _OBJECT),
    "cached": (bool,),
}
_PARENT: Final = {"key": _TEXT, "sequence": _WHOLE, "deleted": _TEXT}
_ERROR: Final = {"type": _TEXT, "message": _TEXT}
_USAGE: Final = {field.name: _WHOLE for field in fields(Usage)}
_RETRIEVAL: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("mode", "cut_by", "embedding_model", "semantic_search"), _TEXT),
    **dict.fromkeys(("top_k", "not_embedded"), _WHOLE),
    "adaptive": (bool,),
    **dict.fromkeys(("curve", "below", "thresholds"), _OBJECT),
    "min_score": _NUMBER,
}
_HIT: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("rank", "version"), _WHOLE),
    "score": _NUMBER,
    **dict.fromkeys(("scores", "metadata", "matched"), _OBJECT),
    "frame": (str, int),
    **dict.fromkeys(("title", "uri", "sha256", "text"), _TEXT),
}


def recognises(opening: Opening) -> bool:
    """Whether the first line says so."""
    return bool(opening.lines) and opening.lines[0].get("format") == FORMAT


def read(data: Contents) -> Imported:
    """The session of the file. Raises `InvalidInput` (`unknown_format`) that names the first line with which something is wrong."""
    ledger = Ledger()
    lines = lines_of(data, deepest=DEEPEST)
    about = _record(next(lines, None), 1)
    actions: list[ActionDraft] = []
    try:
        check_header(about)
        for line in lines:
            number = line.number if isinstance(line, Line) else line.line
            actions.append(_action(_record(line, number), number, len(actions) + 1))
        session = _session(about, actions)
    except (InvalidInput, InvalidOperation) as why:
        if isinstance(why, InvalidInput) and why.code == "unknown_format":
            raise
        raise hopeless(TITLE, f"line 1: {_said(why)}") from why
    ledger.use(1 + len(actions))
    return ledger.account([session])


def check_header(about: dict[str, Any]) -> None:
    """Raise `InvalidInput` (`unknown_format`) for a first line that is none of a version that is known here."""
    if about.get("format") != FORMAT:
        raise hopeless(TITLE, f"line 1 does not say `format`: {FORMAT!r}.")
    if about.get("version") != VERSION:
        raise hopeless(
            TITLE,
            f"it has version {about.get('version')!r} of the format, and version {VERSION} is known here.",
        )


def draft_of(document: dict[str, Any]) -> ActionDraft:
    """The action that a line holds, every field of it. Raises `InvalidInput` for a value that cannot be one."""
    error = _typed(document.get("error"), _ERROR, "error")
    usage = document.get("usage")
    return ActionDraft(
        **_typed(document, _ACTION, "action"),
        tags=_tags(document.get("tags")),
        started_at=_time(document.get("started_at")),
        input=document.get("input"),
        output=document.get("output"),
        error_type=error["type"],
        error_message=error["message"],
        usage=None if usage is None else Usage(**_typed(usage, _USAGE, "usage")),
        cost_usd=_money(document.get("cost_usd")),
        saved_usd=_money(document.get("saved_usd")),
        retrieval=_retrieval(document.get("retrieval")),
        source=document.get("source"),
    )


def _record(line: Any, number: int) -> dict[str, Any]:
    if isinstance(line, Line):
        return line.record
    found = "there is nothing in it." if line is None else line.reason
    raise hopeless(TITLE, f"line {number}: {found}")


def _action(document: dict[str, Any], number: int, sequence: int) -> ActionDraft:
    if document.get("sequence") != sequence:
        raise hopeless(
            TITLE,
            f"line {number}: It is step {document.get('sequence')!r} and not {sequence:,}; a line is missing.",
        )
    try:
        found = draft_of(document)
        check_action(found)
    except (InvalidInput, InvalidOperation) as why:
        raise hopeless(TITLE, f"line {number}: {_said(why)}") from why
    return found


def _session(about: dict[str, Any], actions: list[ActionDraft]) -> SessionDraft:
    told = _typed(about, _ABOUT, "session")
    if told["through"] != len(actions):
        raise hopeless(
            TITLE,
            f"it is cut off: it says that it ends with step {told['through']!r}, and has {len(actions):,}.",
        )
    ids = [action.id for action in actions if action.id is not None]
    if len(set(ids)) != len(ids):
        raise hopeless(TITLE, "two of its steps have the same id.")
    if not (told["name"] or "").strip():
        raise hopeless(TITLE, "line 1: the session has no name.")
    parent = _typed(about.get("parent"), _PARENT, "parent")
    if parent["key"] is not None:
        check_key(parent["key"])
    deleted = uuid_of(parent["deleted"] or "")
    if deleted is None and parent["deleted"] is not None:
        raise _wrong("parent.deleted")
    if not 0 <= (parent["sequence"] or 0) <= LARGEST_INTEGER:
        raise _wrong("parent.sequence")
    return SessionDraft(
        key=check_key(str(about.get("key"))),
        name=told["name"],
        agent=told["agent"],
        user=told["user"],
        started_at=_time(about.get("started_at")),
        ended_at=_time(about.get("ended_at")),
        metadata=told["metadata"] or {},
        tags=_tags(about.get("tags")),
        actions=tuple(actions),
        forked_from=parent["key"],
        forked_at=parent["sequence"],
        forked_from_deleted=deleted,
        numbered=True,
    )


def _retrieval(found: Any) -> RetrievalDraft | None:
    if found is None:
        return None
    told = _typed(found, _RETRIEVAL, "retrieval")
    hits = found.get("hits", [])
    if not isinstance(hits, list):
        raise _wrong("retrieval.hits")
    each = (_typed(hit, _HIT, "retrieval.hits") for hit in hits)
    return RetrievalDraft(**told, as_of=_time(found.get("as_of")), hits=tuple(_hit(hit) for hit in each))


def _hit(told: dict[str, Any]) -> HitDraft:
    if told["rank"] is None:
        raise _wrong("retrieval.hits.rank")
    return HitDraft(**told, unhashed=told["text"] is not None and told["sha256"] is None)


def _typed(found: Any, shape: Mapping[str, tuple[type, ...]], where: str) -> dict[str, Any]:
    """The fields of an object, None for those that are not there; another one's are passed over."""
    if found is None:
        found = {}
    if not isinstance(found, dict):
        raise _wrong(where)
    return {name: _of_type(found.get(name), types, f"{where}.{name}") for name, types in shape.items()}


def _of_type(value: Any, types: tuple[type, ...], where: str) -> Any:
    if value is None:
        return None
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise _wrong(where)
    if types is _NUMBER and number(value) is None:
        raise _wrong(where)
    return value


def _tags(found: Any) -> tuple[str, ...]:
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise _wrong("tags")
    return tuple(found)


def _time(found: Any) -> datetime | None:
    return None if found is None else parse_time(_of_type(found, _TEXT, "time"))


def _money(found: Any) -> Decimal | None:
    if found is None:
        return None
    amount = Decimal(_of_type(found, _TEXT, "cost_usd"))
    if not amount.is_finite():
        raise _wrong("cost_usd")
    return amount


def _wrong(where: str) -> InvalidInput:
    return InvalidInput(f"`{where}` has a value that it cannot have.", code="invalid_field", field=where)


def _said(why: Exception) -> str:
    return why.message if isinstance(why, InvalidInput) else "An amount of money is no number."
