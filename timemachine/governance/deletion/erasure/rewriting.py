"""Writing what is left of steps, of their passages and of the session back to their rows. Only inside an erasure."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from timemachine.core.payloads.commands import store
from timemachine.core.pure.content import content_of
from timemachine.governance.deletion.erasure.before_after import PAYLOADS, Look, Seen, actions_of
from timemachine.recording.sessions.models import Action, Delivery, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.label import label
from timemachine.text.redaction.pure.marks import OPENING, OPENING_ERASED
from timemachine.text.redaction.pure.values import Tally

_TEXTS: Final = ("agent", "name", "tool", "call_id", "model")
_SHAPED: Final = ("parameters", "prices", "cached_from", "grounding")
_NAMING: Final = ("name", "tool", "input", "output", "error")
OF_HIT: Final = (
    "frame",
    "version",
    "title",
    "uri",
    "metadata",
    "scores",
    "matched",
    "score",
    "sha256",
    "text",
)


@dataclass(slots=True, kw_only=True)
class Rewritten:
    """What became of steps: which were rewritten, their fields by name, and the payloads that they no longer refer to."""

    sequences: set[int] = field(default_factory=set)
    actions: set[int] = field(default_factory=set)
    fields: dict[str, int] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    left: set[int] = field(default_factory=set)
    frames: set[int] = field(default_factory=set)
    names: bool = False


def rewrite_actions(session: Session, look: Look, sequences: Sequence[int]) -> Rewritten:
    """Rewrite steps. What names an action whose id is erased names it by its sequence from then on."""
    made = Rewritten()
    for action in actions_of(session, sequences):
        seen = look.action(action)
        if seen.fields:
            _rewrite(session, look, action, seen, made)
    return made


def _rewrite(session: Session, look: Look, action: Action, seen: Seen, made: Rewritten) -> None:
    made.sequences.add(action.sequence)
    made.actions.add(action.id)
    made.tally.update(seen.tally)
    made.names |= bool({"agent", "model", "tool"} & set(seen.fields))
    for name in seen.fields:
        made.fields[name] = made.fields.get(name, 0) + 1
    columns = dict(_columns(session, seen))
    for name in PAYLOADS:
        if f"{name}_id" in columns:
            _leave(look, made, getattr(action, name))
    if "id" in seen.fields and action.client_id is not None:
        _name_by_sequence(session, action, made)
    if "parent" in seen.fields:
        columns |= {"parent_id_given": None, "parent_sequence": _parent_of(session, action)}
    Action.objects.filter(pk=action.pk).update(**columns)
    if "retrieval" in seen.fields:
        after = seen.after["retrieval"]
        hits = after.get("hits") if isinstance(after, Mapping) else None
        before = seen.before["retrieval"]["hits"]
        rewrite_hits(session, look, list(action.hits.all()), before, hits, made)


def _columns(session: Session, seen: Seen) -> Iterator[tuple[str, Any]]:
    for name in seen.fields:
        after = seen.after[name]
        if name in _TEXTS:
            yield name, after
        elif name in _SHAPED:
            yield name, shaped(after)
        elif name in PAYLOADS:
            yield f"{name}_id", kept(session, after)
        else:
            yield from _own_form(name, after)
    if set(_NAMING) & set(seen.fields):
        yield "label", _label(seen.after)


def _own_form(name: str, after: Any) -> Iterator[tuple[str, Any]]:
    """The columns of a field that is kept in a form of its own."""
    if name == "tags":
        yield name, list(after)
    elif name == "id":
        yield "client_id", None
    elif name == "error":
        yield from zip(("error_type", "error_message"), _error(after), strict=True)
    elif name == "retrieval":
        found = shaped(after) or {}
        told = {key: value for key, value in found.items() if key != "hits" and value is not None}
        yield name, told or None


def _label(after: Mapping[str, Any]) -> str:
    named = {name: after[name] for name in _NAMING if name != "error"}
    return label(ActionDraft(kind=after["kind"], error_message=_error(after["error"])[1], **named))


def rewrite_hits(
    session: Session, look: Look, rows: Sequence[Any], before: Sequence[Any], after: Any, made: Rewritten
) -> None:
    """Rewrite the passages of a step, recorded or found by a replay; `after` is what is left of them, no list where nothing is."""
    left = after if isinstance(after, list) and len(after) == len(rows) else [{}] * len(rows)
    for row, was, told in zip(rows, before, left, strict=True):
        if was == told:
            continue
        now = told if isinstance(told, Mapping) else {}
        columns = {name: now.get(name) for name in ("frame", "version", "title", "uri")}
        columns |= {name: shaped(now.get(name)) for name in ("metadata", "scores", "matched")}
        columns["version"] = now.get("version") if isinstance(now.get("version"), int) else None
        columns["score"] = now.get("score") if isinstance(now.get("score"), int | float) else None
        if now.get("text") != was.get("text"):
            _leave(look, made, row.payload)
            if row.sha256:
                look.hashes.add(row.sha256)
            columns |= {"sha256": None, "payload_id": kept(session, now.get("text"))}
        elif now.get("sha256") != was.get("sha256"):
            columns["sha256"] = None
        if row.stored_frame_id is not None:
            made.frames.add(row.stored_frame_id)
        type(row).objects.filter(pk=row.pk).update(**columns)


def rewrite_session(session: Session, seen: Seen) -> None:
    """Rewrite the session's own fields; an erased key becomes one that was never given."""
    columns = {name: seen.after[name] for name in seen.fields}
    if "key" in columns:
        columns["key"] = f"erased-{secrets.token_hex(4)}"
    if "metadata" in columns:
        columns["metadata"] = shaped(columns["metadata"]) or {}
    Session.objects.filter(pk=session.pk).update(**columns)
    session.refresh_from_db()


def rewrite_deliveries(session: Session, look: Look, sequences: Iterable[int]) -> None:
    """What was sent with a step could be guessed at by its hash: it goes, and the same request again is refused.

    So does the hash of an ask that is under way, which may be recorded already and whose answer is then not kept, and of what began the session.
    """
    touched = set(sequences)
    for each in Delivery.objects.filter(session=session):
        columns: dict[str, Any] = {}
        if each.answer is not None or not each.sequences or touched & set(each.sequences):
            columns |= {"request_sha256": "", "answer": None}
        if look.value(each.key) != each.key:
            columns["key"] = f"erased-{secrets.token_hex(8)}"
        if columns:
            Delivery.objects.filter(pk=each.pk).update(**columns)


def kept(session: Session, value: Any) -> int | None:
    """The payload of what is left of a value; None where nothing is."""
    if value is None:
        return None
    content = content_of(value)
    return store(session.project_id, [content])[content]


def shaped(value: Any) -> dict[str, Any] | None:
    """An object that keeps its form; None for one that was erased whole, which the erased fields tell."""
    if not isinstance(value, Mapping):
        return None
    mark = value.get("withheld")
    whole = len(value) == 1 and isinstance(mark, str) and mark.startswith((OPENING, OPENING_ERASED))
    return None if whole else dict(value)


def _error(error: Any) -> tuple[str | None, str | None]:
    if error is None:
        return None, None
    return (error["type"], error["message"]) if "message" in error else (None, error["withheld"])


def _leave(look: Look, made: Rewritten, payload: Any) -> None:
    if payload is not None:
        made.left.add(payload.id)
        look.hashes.add(payload.sha256)


def _name_by_sequence(session: Session, action: Action, made: Rewritten) -> None:
    children = Action.objects.filter(session=session, parent_id_given=action.client_id)
    rows = list(children.values_list("id", "sequence"))
    children.update(parent_id_given=None, parent_sequence=action.sequence)
    made.actions |= {row for row, _ in rows}
    made.sequences |= {sequence for _, sequence in rows}


def _parent_of(session: Session, action: Action) -> int | None:
    """The sequence of the step that a step names by an erased id."""
    now = Action.objects.filter(pk=action.pk).values_list("parent_id_given", "parent_sequence").get()
    if now[0] is None:
        return now[1]  # its parent was rewritten before
    return Action.objects.filter(session=session, client_id=now[0]).values_list("sequence", flat=True).first()
