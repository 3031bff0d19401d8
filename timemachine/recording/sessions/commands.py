"""Start a session, append actions, end it; change its name, metadata and tags. What was recorded never changes."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import batched, chain, groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.dispatch import Signal

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import insert_rows
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.postgres_text import original, storable
from timemachine.knowledge.models import Collection as FrameCollection
from timemachine.recording.sessions import action_rows, idempotency
from timemachine.recording.sessions.branches import Parent, link_waiting_branches, resolve_parent
from timemachine.recording.sessions.environments import redact_checkpoint
from timemachine.recording.sessions.locks import lock_keys
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.prepared_rows import columns, rows_of
from timemachine.recording.sessions.pure import validation
from timemachine.recording.sessions.pure.draft import ActionDraft

MOST_ACTIONS = 1_000
CHANGEABLE = ("name", "metadata", "tags")
# building these statements with the ORM takes longer than running them
_LOCK = f"SELECT {columns(Session)} FROM tm_session WHERE id = ANY(%(sessions)s) ORDER BY id FOR UPDATE"  # noqa: S608  # names of columns
_KNOWN = """
SELECT asked.session, asked.client_id, a.sequence, encode(p.sha256, 'hex')
FROM unnest(%(sessions)s::uuid[], %(names)s::text[]) AS asked(session, client_id) CROSS JOIN LATERAL (
    SELECT sequence, source_id FROM tm_action WHERE session_id = asked.session AND client_id = asked.client_id LIMIT 1
) AS a LEFT JOIN tm_payload AS p ON p.id = a.source_id
"""
_COUNTED = f"""
UPDATE tm_session AS s SET {", ".join(f"{name} = new.{name}" for name in action_rows.COUNTERS)}
FROM jsonb_populate_recordset(NULL::tm_session, %(new)s::jsonb) AS new WHERE s.id = new.id
"""  # noqa: S608
_ROWS = """
SELECT a.session_id, a.sequence, a.id FROM unnest(%s::uuid[], %s::bigint[]) AS asked(session, sequence)
JOIN tm_action AS a ON a.session_id = asked.session AND a.sequence = asked.sequence
"""
end_moved: Final = Signal()
"""The end of `session`, which had ended already, was moved to a later time by an import."""
type More = tuple[Session, Sequence[ActionDraft]]
"""A session and the actions to record in it."""


def start_session(
    project: Project,
    *,
    name: str,
    by: str,
    key: str | None = None,
    agent: str | None = None,
    user: str | None = None,
    collection: FrameCollection | None = None,
    parent: Parent | None = None,
    metadata: Mapping[str, Any] | None = None,
    tags: Sequence[str] = (),
    started_at: datetime | None = None,
    imported_as: str | None = None,
    continues: JsonObject | None = None,
) -> Session:
    """Start a session. `continues` is what the branch of a continuation continues.

    Raises `Conflict` if the key is taken, and `InvalidInput` if the key has the wrong form, a text is too long, or
    the start time is out of range.

    A parent that is not here yet is named by its key and linked when it arrives, unless it branched from this
    session.
    """
    if not name.strip():
        raise InvalidInput("A session needs a name.", code="invalid_field", field="name")
    validation.check_head(name=name, agent=agent, user=user, tags=tags)
    validation.check_moment("started_at", started_at)
    chosen = validation.check_key(key) if key is not None else _free_key(project)
    named, sequence = parent or (None, None)
    try:
        with transaction.atomic():
            lock_keys(project, chosen, named if isinstance(named, str) else None)
            branched_from, awaited = resolve_parent(project, named)
            begun = Session.objects.create(
                project=project,
                key=chosen,
                name=name,
                agent=agent,
                user=user,
                collection=collection,
                parent=branched_from,
                parent_key=awaited,
                parent_sequence=sequence,
                parent_erased=named if isinstance(named, UUID) else None,
                continues=continues,
                metadata=dict(metadata or {}),
                tags=list(tags),
                created_by=by,
                started_at=started_at or now(),
                imported_as=imported_as,
                is_undated=imported_as is not None and started_at is None,
            )
            link_waiting_branches(begun)
            return begun
    except IntegrityError as why:
        if "session_key_once" not in str(why):
            raise
        raise Conflict(
            f"A session with the key {chosen!r} already exists. Choose another key or append to that session.",
            code="key_taken",
            key=chosen,
        ) from why


def _free_key(project: Project) -> str:
    """Return a key that no session of the project has. With a million sessions, one random key in four thousand is taken."""
    while Session.objects.filter(project=project, key=(drawn := validation.new_key())).exists():
        pass
    return drawn


@transaction.atomic
def append(
    session_id: UUID,
    drafts: Sequence[ActionDraft],
    *,
    idempotency_key: str | None = None,
    request_sha256: str = "",
    imported: bool = False,
    as_it_is: bool = False,
    was_open: bool = False,
) -> list[int]:
    """Record actions in order, all or none, and return their sequences. They are durable when this returns.

    The session's row is locked, so sequences have no gaps however many writers there are. A client id that the
    session already has is the same action: its sequence is returned and nothing is added, even if the session has
    ended. A repeated idempotency key returns the first answer. Secrets of a checkpoint's environment are withheld
    before anything is stored, except in actions that were recorded by a server like this one and arrive `as_it_is`.

    An import may add to a session that has ended and is limited only by the size of its file. `was_open` is for
    actions that began while the session was open and arrive late.

    Raises `InvalidInput`, `TooLarge`, `Conflict` (the session has ended, or the key was used for another request),
    `NotFound` (the session was erased).
    """
    _check(drafts)
    if idempotency_key is not None:
        idempotency.check_key(idempotency_key)
    session = locked([session_id])[session_id]
    earlier = idempotency_key and idempotency.find_delivery(session, idempotency_key, request_sha256)
    if earlier:
        return earlier.sequences
    largest = settings.MAX_REQUEST_BYTES if imported else settings.MAX_ACTION_BYTES
    sequences, fresh = _placed(
        session, drafts if as_it_is else [redact_checkpoint(draft) for draft in drafts]
    )
    if (fresh or not drafts) and not imported and not was_open:
        require_open(session)
    if fresh:
        _insert([(session, fresh)], largest)
    if idempotency_key is not None:
        idempotency.store_delivery(session, idempotency_key, request_sha256, sequences=sequences)
    return sequences


def set_checkpoint(
    session_id: UUID,
    name: str | None,
    state: JsonObject,
    *,
    agent: str | None = None,
    idempotency_key: str | None = None,
    request_sha256: str = "",
) -> int:
    """Record a checkpoint and return its sequence; for a repeated idempotency key, that of the first.

    `agent` defaults to the session's. Secrets in `environment` are withheld before anything is stored.

    Raises `InvalidInput` for an empty name, and what `append` raises.
    """
    if name is not None and not name.strip():
        raise InvalidInput(
            "The name is empty. Enter one or leave it out.", code="invalid_field", field="name"
        )
    draft = ActionDraft(kind="checkpoint", layer="agent", agent=agent, name=name, output=dict(state))
    return append(session_id, [draft], idempotency_key=idempotency_key, request_sha256=request_sha256)[0]


def locked(session_ids: Collection[UUID]) -> dict[UUID, Session]:
    """Lock the sessions until the open transaction ends, so that nobody else appends to them. Raises `NotFound` if one
    was erased."""
    found = {each.id: each for each in rows_of(Session, _LOCK, {"sessions": list(session_ids)})}
    if len(found) < len(session_ids):
        raise NotFound("The session was deleted, so nothing was recorded.", code="session_not_found")
    return found


def append_new(some: Iterable[More]) -> None:
    """Record checked actions that their sessions do not have. The sessions are `locked` and belong to one project.

    Durable when the open transaction ends. A session may have ended in the meantime: the actions began while it was
    open. Raises `TooLarge`.
    """
    each = ((session, draft) for session, drafts in some for draft in drafts)
    for batch in batched(each, MOST_ACTIONS, strict=False):
        by_session = groupby(batch, key=itemgetter(0))
        _insert(
            [(session, [draft for _, draft in its]) for session, its in by_session], settings.MAX_ACTION_BYTES
        )


def require_open(session: Session) -> None:
    """Raise `Conflict` if the session has ended."""
    if session.status != Session.RECORDING:
        raise Conflict(f"Session {session.key} has ended. Start a new one.", code="session_ended")


@transaction.atomic
def end_session(session_id: UUID, *, at: datetime | None = None) -> Session:
    """End a session, so that nothing can be appended. Ending it again changes nothing."""
    session = Session.objects.select_for_update().get(id=session_id)
    if session.status == Session.RECORDING:
        session.status = Session.ENDED
        session.ended_at = at or now()
        session.save(update_fields=["status", "ended_at"])
    return session


def end_imported(session_id: UUID, *, ended: datetime | None) -> Session:
    """End an imported session at the time its file gives, or None. If the session has grown, its end can only move
    later.

    Its start is in its sealed record and does not change.
    """
    session = Session.objects.select_for_update().get(id=session_id)
    had_ended, session.status = session.status == Session.ENDED, Session.ENDED
    is_later = ended is not None and (session.ended_at is None or session.ended_at < ended)
    if is_later:
        session.ended_at = ended
    session.save(update_fields=["status", "ended_at"])
    if had_ended and is_later:
        end_moved.send(Session, session=session)
    return session


def describe(session: Session, **values: Any) -> Session:
    """Set the session's name, metadata or tags. Raises `InvalidInput` if the name is empty or something is too long."""
    given = {name: value for name, value in values.items() if name in CHANGEABLE and value is not None}
    if not str(given.get("name", session.name)).strip():
        raise InvalidInput("A session needs a name.", code="invalid_field", field="name")
    validation.check_head(name=given.get("name"), tags=given.get("tags", ()))
    for name, value in given.items():
        setattr(session, name, value)
    if given:
        session.save(update_fields=list(given))
    return session


def detach_collection(collection: FrameCollection) -> int:
    """Remove a collection that is about to be erased from the sessions that use it. Their frozen passages stay."""
    return Session.objects.filter(collection=collection).update(collection=None)


def check_count(actions: int) -> None:
    """Raise `InvalidInput` for more actions than one request may have."""
    if actions > MOST_ACTIONS:
        raise InvalidInput(
            f"The request has {actions:,} actions; the maximum is {MOST_ACTIONS:,}.",
            code="too_many_actions",
            limit=MOST_ACTIONS,
        )


def _check(drafts: Sequence[ActionDraft]) -> None:
    check_count(len(drafts))
    for place, draft in enumerate(drafts):
        try:
            validation.check_action(draft)
        except InvalidInput as why:
            if len(drafts) == 1:
                raise
            message = f"`actions.{place}`, number {place + 1:,} of {len(drafts):,}: {why.message}"
            raise type(why)(message, code=why.code, **{**why.facts, "action": place}) from why


def _placed(session: Session, drafts: Sequence[ActionDraft]) -> tuple[list[int], list[ActionDraft]]:
    """Return the sequence of each draft, and the drafts that the session does not have yet."""
    found = known_ids([(session.id, draft.id) for draft in drafts if draft.id is not None])
    known = {client_id: sequence for (_, client_id), (sequence, _) in found.items()}
    fresh: list[ActionDraft] = []
    sequences: list[int] = []
    for draft in drafts:
        sequence = known.get(draft.id) if draft.id is not None else None
        if sequence is None:
            fresh.append(draft)
            sequence = session.last_sequence + len(fresh)
            if draft.id is not None:
                known[draft.id] = sequence
        sequences.append(sequence)
    return sequences, fresh


def known_ids(ids: Sequence[tuple[UUID, str]]) -> dict[tuple[UUID, str], tuple[int, str | None]]:
    """Return which of these client ids their sessions have: the sequence of each, and the SHA-256 of its source."""
    if not ids:
        return {}
    facts = {
        "sessions": [session for session, _ in ids],
        "names": [storable(each) for _, each in ids],
    }
    return {
        (session, original(named)): (at, source)
        for session, named, at, source in prepared_statements.fetch_rows(_KNOWN, facts)
    }


class _Placed(NamedTuple):
    session: Session
    sequence: int
    draft: ActionDraft
    parts: action_rows.ActionContents


def _insert(some: Sequence[More], largest: int) -> None:
    """Insert the actions of sessions of one project, with one statement of each kind."""
    placed = [
        _Placed(session, sequence, draft, action_rows.contents_of(draft, largest))
        for session, drafts in some
        for sequence, draft in enumerate(drafts, session.last_sequence + 1)
    ]
    payload_ids = action_rows.store_payloads(some[0][0].project_id, [each.parts for each in placed])
    actions = [action_rows.action_row(*each, payload_ids) for each in placed]
    insert_rows(Action, actions)
    _insert_hits([each for each in placed if each.parts.texts], payload_ids)
    by_session = {session: list(its) for session, its in groupby(actions, key=itemgetter("session_id"))}
    for session, _ in some:
        action_rows.add_to_counters(session, by_session[session.id])
    new = [{name: getattr(session, name) for name in ("id", *action_rows.COUNTERS)} for session, _ in some]
    prepared_statements.send(_COUNTED, {"new": json.dumps(new, default=str)})


def _insert_hits(placed: Sequence[_Placed], payload_ids: action_rows.PayloadIds) -> None:
    if not placed:
        return
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, [[each.session.id for each in placed], [each.sequence for each in placed]])
        ids = {(session, sequence): row for session, sequence, row in cursor.fetchall()}
    found = (
        action_rows.hit_rows(ids[each.session.id, each.sequence], each.draft, each.parts, payload_ids)
        for each in placed
    )
    insert_rows(Hit, list(chain.from_iterable(found)))
