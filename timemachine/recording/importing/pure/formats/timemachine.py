"""Sessions exported from Time Machine: a line about the session, then one line per action, exactly as recorded.

The complete file is read or nothing: actions refer to each other by number, so none may be missing. Erased values
keep their marks.
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
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line, lines_of
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import LineSkipped, ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import number
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.sessions.pure.validation import LARGEST_INTEGER, check_action, check_key

NAME: Final = "timemachine"
TITLE: Final = "Time Machine session export (JSON lines)"
FORMAT: Final = "timemachine-session"
VERSION: Final = 1
DEEPEST: Final = MAX_DEPTH + 8
"""A payload may be nested `MAX_DEPTH` deep and is itself nested in its action."""
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
    **dict.fromkeys(("parameters", "prices", "cached_from", "grounding", "copied_from", "metadata"), _OBJECT),
    "cached": (bool,),
}
_PARENT: Final = {"key": _TEXT, "sequence": _WHOLE, "deleted": _TEXT}
_ERROR: Final = {"type": _TEXT, "message": _TEXT}
_USAGE: Final = {field.name: _WHOLE for field in fields(Usage)}
_RETRIEVAL: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("collection", "mode", "cut_by", "embedding_model", "semantic_search"), _TEXT),
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
    """Return whether the first line names the format."""
    return bool(opening.lines) and opening.lines[0].get("format") == FORMAT


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file. Raises `InvalidInput` (`unknown_format`) that names the first bad line."""
    lines = lines_of(reader.data, deepest=DEEPEST)
    about = _record(next(lines, None), 1, reader)
    actions: list[ActionDraft] = []
    if about.get("format") != FORMAT:
        raise reader.refusal(f"line 1 does not have `format` {FORMAT!r}.")
    if about.get("version") != VERSION:
        raise reader.refusal(
            f"it has version {about.get('version')!r} of the format; this server reads version {VERSION}."
        )
    for line in lines:
        number = line.number if isinstance(line, Line) else line.line
        actions.append(_action(_record(line, number, reader), number, len(actions) + 1, reader))
    try:
        session = _session(about, actions, reader)
    except (InvalidInput, InvalidOperation) as why:
        if isinstance(why, InvalidInput) and why.code == "unknown_format":
            raise
        raise reader.refusal(f"line 1: {_message(why)}") from why
    reader.use(1 + len(actions))
    return reader.parsed([session])


def draft_of(document: JsonObject) -> ActionDraft:
    """Return the action of a line, with every field. Raises `InvalidInput` for an invalid value."""
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


def _record(line: Line | LineSkipped | None, number: int, reader: Reader) -> JsonObject:
    if isinstance(line, Line):
        return line.record
    raise reader.refusal(f"line {number}: {'it is empty.' if line is None else line.reason}")


def _action(document: JsonObject, number: int, sequence: int, reader: Reader) -> ActionDraft:
    if document.get("sequence") != sequence:
        raise reader.refusal(
            f"line {number}: It is step {document.get('sequence')!r}, but step {sequence:,} was expected. A line is missing."
        )
    try:
        found = draft_of(document)
        check_action(found)
    except (InvalidInput, InvalidOperation) as why:
        raise reader.refusal(f"line {number}: {_message(why)}") from why
    return found


def _session(about: JsonObject, actions: list[ActionDraft], reader: Reader) -> SessionDraft:
    header = _typed(about, _ABOUT, "session")
    if header["through"] != len(actions):
        raise reader.refusal(
            f"it is truncated: it should end with step {header['through']!r}, but has {len(actions):,} steps."
        )
    ids = [action.id for action in actions if action.id is not None]
    if len(set(ids)) != len(ids):
        raise reader.refusal("two of its steps have the same id.")
    if not (header["name"] or "").strip():
        raise reader.refusal("line 1: the session has no name.")
    parent = _typed(about.get("parent"), _PARENT, "parent")
    if parent["key"] is not None:
        check_key(parent["key"])
    deleted = uuid_of(parent["deleted"] or "")
    if deleted is None and parent["deleted"] is not None:
        raise _invalid_field("parent.deleted")
    if not 0 <= (parent["sequence"] or 0) <= LARGEST_INTEGER:
        raise _invalid_field("parent.sequence")
    return SessionDraft(
        key=check_key(str(about.get("key"))),
        name=header["name"],
        agent=header["agent"],
        user=header["user"],
        started_at=_time(about.get("started_at")),
        ended_at=_time(about.get("ended_at")),
        metadata=header["metadata"] or {},
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
    values = _typed(found, _RETRIEVAL, "retrieval")
    hits = found.get("hits", [])
    if not isinstance(hits, list):
        raise _invalid_field("retrieval.hits")
    as_of = _time(found.get("as_of"))
    drafts = []
    for hit in hits:
        its = _typed(hit, _HIT, "retrieval.hits")
        if its["rank"] is None:
            raise _invalid_field("retrieval.hits.rank")
        unhashed = its["text"] is not None and its["sha256"] is None
        drafts.append(HitDraft(**its, unhashed=unhashed))
    return RetrievalDraft(**values, as_of=as_of, hits=tuple(drafts))


def _typed(found: Any, shape: Mapping[str, tuple[type, ...]], where: str) -> JsonObject:
    """Return the fields of an object, None for missing ones. Unknown fields are ignored."""
    if found is None:
        found = {}
    if not isinstance(found, dict):
        raise _invalid_field(where)
    return {name: _of_type(found.get(name), types, f"{where}.{name}") for name, types in shape.items()}


def _of_type(value: Any, types: tuple[type, ...], where: str) -> Any:
    if value is None:
        return None
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise _invalid_field(where)
    if types is _NUMBER and number(value) is None:
        raise _invalid_field(where)
    return value


def _tags(found: Any) -> tuple[str, ...]:
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise _invalid_field("tags")
    return tuple(found)


def _time(found: Any) -> datetime | None:
    return None if found is None else parse_time(_of_type(found, _TEXT, "time"))


def _money(found: Any) -> Decimal | None:
    if found is None:
        return None
    amount = Decimal(_of_type(found, _TEXT, "cost_usd"))
    if not amount.is_finite():
        raise _invalid_field("cost_usd")
    return amount


def _invalid_field(where: str) -> InvalidInput:
    return InvalidInput(f"`{where}` has an invalid value.", code="invalid_field", field=where)


def _message(why: Exception) -> str:
    return why.message if isinstance(why, InvalidInput) else "An amount of money is not a number."
