"""Writing what remains of steps, their passages and the session back to their rows. Only inside an erasure."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import Q

from timemachine.core.payloads.commands import store
from timemachine.core.pure.content import content_of
from timemachine.core.pure.json_types import JsonObject
from timemachine.governance.deletion.erasure.before_after import PAYLOADS, BeforeAfter, Scan, actions_of
from timemachine.recording.sessions.models import Action, Delivery, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of
from timemachine.recording.sessions.pure.label import label
from timemachine.recording.sessions.queries import IS_CORRECTION
from timemachine.text.redaction.pure.marks import OPENING, OPENING_ERASED
from timemachine.text.redaction.pure.projection import error_of
from timemachine.text.redaction.pure.values import Tally

_TEXTS: Final = ("agent", "name", "tool", "call_id", "model")
_SHAPED: Final = ("parameters", "prices", "cached_from", "grounding", "metadata")
_NAMING: Final = ("name", "tool", "input", "output", "error")


@dataclass(slots=True, kw_only=True)
class Rewritten:
    """What was rewritten: steps, their fields by name, and the payloads that they no longer refer to."""

    sequences: set[int] = field(default_factory=set)
    fields: dict[str, int] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    released: set[int] = field(default_factory=set)
    frames: set[int] = field(default_factory=set)


def rewrite_actions(session: Session, scan: Scan, sequences: Sequence[int]) -> Rewritten:
    """Rewrite steps. Steps that name an action by an erased id name it by its sequence afterwards, and its corrections
    lose the agent with it: they count for the same one.
    """
    made = Rewritten()
    for action in actions_of(session, sequences):
        seen = scan.action(action)
        if seen.fields:
            _rewrite(session, scan, action, seen, made)
    return made


def _rewrite(session: Session, scan: Scan, action: Action, seen: BeforeAfter, made: Rewritten) -> None:
    made.sequences.add(action.sequence)
    made.tally.update(seen.tally)
    for name in seen.fields:
        made.fields[name] = made.fields.get(name, 0) + 1
    columns = dict(_columns(session, seen))
    if "agent" in columns:
        _rename_in_corrections(session, action, columns["agent"], made)
    for name in PAYLOADS:
        if f"{name}_id" in columns:
            _release(scan, made, getattr(action, name))
    if "id" in seen.fields and action.client_id is not None:
        _name_by_sequence(session, action, made)
    if "parent" in seen.fields:
        columns |= {"parent_id_given": None, "parent_sequence": _parent_of(session, action)}
    Action.objects.filter(pk=action.pk).update(**columns)
    if "retrieval" in seen.fields:
        after = seen.after["retrieval"]
        hits = after.get("hits") if isinstance(after, Mapping) else None
        before = seen.before["retrieval"]["hits"]
        rewrite_hits(session, scan, list(action.hits.all()), before, hits, made)


def _columns(session: Session, seen: BeforeAfter) -> Iterator[tuple[str, Any]]:
    for name in seen.fields:
        after = seen.after[name]
        if name in _TEXTS:
            yield name, after
        elif name in _SHAPED:
            yield name, as_object(after)
        elif name in PAYLOADS:
            yield f"{name}_id", stored_payload(session, after)
        elif name != "parent":  # needs its own query
            yield from _own_form(name, after)
    if set(_NAMING) & set(seen.fields):
        yield "label", _label(seen.after)


def _own_form(name: str, after: Any) -> Iterator[tuple[str, Any]]:
    if name == "tags":
        yield name, list(after)
    elif name == "id":
        yield "client_id", None
    elif name == "error":
        yield from zip(("error_type", "error_message"), error_of(after), strict=True)
    elif name == "copied_from":
        yield name, as_object(after) or copy_of()  # it stays a copy
    elif name == "retrieval":
        found = as_object(after) or {}
        redacted = {key: value for key, value in found.items() if key != "hits" and value is not None}
        yield name, redacted or None
    else:
        raise NotImplementedError(f"Erasing does not know how to rewrite {name!r}.")


def _label(after: Mapping[str, Any]) -> str:
    named = {name: after[name] for name in _NAMING if name != "error"}
    return label(ActionDraft(kind=after["kind"], error_message=error_of(after["error"])[1], **named))


def rewrite_hits(
    session: Session, scan: Scan, rows: Sequence[Any], before: Sequence[Any], after: Any, made: Rewritten
) -> None:
    """Rewrite the passages of a step. `after` is what remains of them; not a list if nothing does."""
    remaining = after if isinstance(after, list) and len(after) == len(rows) else [{}] * len(rows)
    for row, was, redacted in zip(rows, before, remaining, strict=True):
        if was == redacted:
            continue
        now = redacted if isinstance(redacted, Mapping) else {}
        columns = {name: now.get(name) for name in ("frame", "version", "title", "uri")}
        columns |= {name: as_object(now.get(name)) for name in ("metadata", "scores", "matched")}
        columns["version"] = now.get("version") if isinstance(now.get("version"), int) else None
        columns["score"] = now.get("score") if isinstance(now.get("score"), int | float) else None
        if now.get("text") != was.get("text"):
            _release(scan, made, row.payload)
            if row.sha256:
                scan.hashes.add(row.sha256)
            columns |= {"sha256": None, "payload_id": stored_payload(session, now.get("text"))}
        elif now.get("sha256") != was.get("sha256"):
            columns["sha256"] = None
        if row.stored_frame_id is not None:
            made.frames.add(row.stored_frame_id)
        type(row).objects.filter(pk=row.pk).update(**columns)


def rewrite_session(session: Session, seen: BeforeAfter) -> None:
    """Rewrite the session's own fields; an erased key is replaced by a random one."""
    columns = {name: seen.after[name] for name in seen.fields}
    if "key" in columns:
        columns["key"] = f"erased-{secrets.token_hex(4)}"
    if "metadata" in columns:
        columns["metadata"] = as_object(columns["metadata"]) or {}
    Session.objects.filter(pk=session.pk).update(**columns)
    session.refresh_from_db()


def rewrite_deliveries(session: Session, scan: Scan, sequences: Iterable[int]) -> None:
    """Delete the hashes of requests that recorded a step: they help to guess it. Repeating one is refused.

    The same applies to the hash of a running ask, which may be recorded already and whose answer is then not
    stored, and of the request that started the session.
    """
    touched = set(sequences)
    for each in Delivery.objects.filter(session=session):
        columns: dict[str, object] = {}
        if each.answer is not None or not each.sequences or touched & set(each.sequences):
            columns |= {"request_sha256": "", "answer": None}
        if scan.value(each.key) != each.key:
            columns["key"] = f"erased-{secrets.token_hex(8)}"
        if columns:
            Delivery.objects.filter(pk=each.pk).update(**columns)


def stored_payload(session: Session, value: Any) -> int | None:
    """Return the id of the payload with what remains of a value; None if nothing does."""
    if value is None:
        return None
    content = content_of(value)
    return store(session.project_id, [content])[content]


def as_object(value: Any) -> JsonObject | None:
    """Return an object unless it was erased completely."""
    if not isinstance(value, Mapping):
        return None
    mark = value.get("withheld")
    whole = len(value) == 1 and isinstance(mark, str) and mark.startswith((OPENING, OPENING_ERASED))
    return None if whole else dict(value)


def _release(scan: Scan, made: Rewritten, payload: Any) -> None:
    if payload is not None:
        made.released.add(payload.id)
        scan.hashes.add(payload.sha256)


def _name_by_sequence(session: Session, action: Action, made: Rewritten) -> None:
    children = Action.objects.filter(session=session, parent_id_given=action.client_id)
    made.sequences |= set(children.values_list("sequence", flat=True))
    children.update(parent_id_given=None, parent_sequence=action.sequence)


def _rename_in_corrections(session: Session, action: Action, agent: str | None, made: Rewritten) -> None:
    of_action = Q(parent_sequence=action.sequence)
    if action.client_id is not None:
        of_action |= Q(parent_id_given=action.client_id)
    corrections = Action.objects.filter(of_action, IS_CORRECTION, session=session).exclude(agent=agent)
    renamed = set(corrections.values_list("sequence", flat=True))
    if renamed:
        made.sequences |= renamed
        made.fields["agent"] += len(renamed)
        corrections.update(agent=agent)


def _parent_of(session: Session, action: Action) -> int | None:
    """Return the sequence of the step that a step names by an erased id."""
    now = Action.objects.filter(pk=action.pk).values_list("parent_id_given", "parent_sequence").get()
    if now[0] is None:
        return now[1]  # its parent was rewritten before
    return Action.objects.filter(session=session, client_id=now[0]).values_list("sequence", flat=True).first()
