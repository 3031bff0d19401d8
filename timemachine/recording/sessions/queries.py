"""Find sessions, their actions, and the moments that they name, within a project."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Coalesce
from django.db.models.lookups import Exact

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now, parse_typed_time
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import whole_number
from timemachine.knowledge.collection_time import check_not_in_future
from timemachine.knowledge.models import Collection as FrameCollection
from timemachine.recording.sessions.deletions import KEY, deletion_of, session_deleted
from timemachine.recording.sessions.models import BEGAN_AT, Action, Session
from timemachine.recording.sessions.prepared_rows import columns, rows_of
from timemachine.recording.sessions.pure.corrections import CORRECTION, UNKNOWN_CALLS
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL, SPENDING

_NAMED: Final = 5
"""Maximum number of checkpoints that an error message lists."""
HAPPENED_HERE: Final = Q(copied_from__isnull=True)
"""Actions that are not copied context. Only these are counted, searched, compared and learned from; the others were,
in the session in which they happened.
"""
HAPPENED_HERE_SQL: Final = "a.copied_from IS NULL"
"""The same in plain SQL over `tm_action a`."""
FAILED: Final = HAPPENED_HERE & (Q(error_type__isnull=False) | Q(error_message__isnull=False))
"""Actions that recorded an error, and not copies of such."""
IS_CORRECTION: Final = Q(kind="event", prices__has_key=CORRECTION)
"""Events that change what another step counted (`pure.corrections`). They are in the sums of tokens and dollars and in the number
of calls of unknown cost, and are counted as no steps."""
IS_MODEL_CALL: Final = Q(model__isnull=False) | Q(kind=MODEL_CALL)
"""Model calls, as `is_model_call` defines them, and corrections of such."""
TIME_SQL: Final = "coalesce(a.started_at, CASE WHEN s.imported_as IS NULL THEN a.recorded_at END)"
"""`time_of` in plain SQL over `tm_action a` and `tm_session s`."""
NEWEST_FIRST: Final = (BEGAN_AT.desc(), "-id")
OLDEST_FIRST: Final = (BEGAN_AT.asc(), "id")
"""Orders of sessions."""
IS_DATED: Final = Q(first_step_at__isnull=False) | Q(is_undated=False)
"""Sessions of which a time is recorded."""
IS_BRANCH: Final = (
    Q(parent__isnull=False)
    | Q(parent_key__isnull=False)
    | Q(parent_erased__isnull=False)
    | Q(parent_sequence__isnull=False)
)
"""Sessions that branched from another one, even if that is deleted or not on this server."""
_IS_STATED: Final = Q(
    Exact(
        Coalesce(KeyTextTransform("source", "prices"), Value(""), output_field=TextField()),
        "stated",
    )
)
_CHANGE: Final = Coalesce(
    KeyTextTransform(UNKNOWN_CALLS, KeyTransform(CORRECTION, "prices")), Value(""), output_field=TextField()
)
UNKNOWN_COST: Final = (
    Q(cost_usd=None)
    & (
        IS_MODEL_CALL
        | Q(kind__in=SPENDING, input_tokens__isnull=False, input_tokens__gt=0)
        | Q(kind__in=SPENDING, output_tokens__isnull=False, output_tokens__gt=0)
    )
    & ~_IS_STATED
    & ~IS_CORRECTION
) | (IS_CORRECTION & Q(Exact(_CHANGE, "1")))
"""Steps with unknown cost, as `is_unknown_cost` defines them, and corrections by which a cost became unknown."""
BECAME_KNOWN: Final = IS_CORRECTION & Q(Exact(_CHANGE, "-1"))
"""Corrections by which an unknown cost became known."""
UNKNOWN_COST_CALLS: Final = Case(When(UNKNOWN_COST, then=1), When(BECAME_KNOWN, then=-1), default=0)
"""By how much a step changes the number of calls of unknown cost, as `unknown_cost_calls` defines it. They are in no sum and are
counted separately."""
# An invalid or incomplete time with an hour. A session's key may look like a date, but a text with an hour is meant as a time.
_DAY_AND_HOUR: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?: |T\d).*", re.IGNORECASE | re.DOTALL)

_SESSION: Final = f"""
SELECT {columns(Session, "s")}, {columns(FrameCollection, "c")}, {columns(Session, "p")}
FROM tm_session s LEFT JOIN tm_collection c ON c.id = s.collection_id LEFT JOIN tm_session p ON p.id = s.parent_id
WHERE s.project_id = %(project)s AND s."""  # noqa: S608  # names of columns
_BY_ID: Final = f"{_SESSION}id = %(wanted)s"
_BY_KEY: Final = f"{_SESSION}key = %(wanted)s"
_BY_IDS: Final = f"SELECT {columns(Session)} FROM tm_session WHERE project_id = %(project)s AND id = ANY(%(sessions)s::uuid[])"  # noqa: S608  # names of columns


def session_of(project: Project, id_or_key: str | UUID) -> Session:
    """Return the project's session with that uuid or key.

    Raises `NotFound`, also for another project's session; for a deleted session the error reports the deletion.
    """
    written = str(id_or_key)
    session_id = uuid_of(written)
    found = None if session_id is None else _session(project, _BY_ID, session_id)
    if found is None and KEY.fullmatch(written):
        found = _session(project, _BY_KEY, written)
    if found is None:
        raise _not_found(project, written)
    return found


def _session(project: Project, sql: str, id_or_key: UUID | str) -> Session | None:
    facts = {"project": project.id, "wanted": id_or_key}
    return next(rows_of(Session, sql, facts, "collection", "parent"), None)


def sessions_by_id(project: Project, ids: Collection[UUID]) -> dict[UUID, Session]:
    """Return those of the sessions that belong to the project. One query."""
    facts = {"project": project.id, "sessions": list(ids)}
    return {each.id: each for each in rows_of(Session, _BY_IDS, facts)}


def sessions_named(project: Project, names: Sequence[str]) -> list[Session]:
    """Return the project's sessions with these uuids or keys, in order. Two queries for any number. Raises `NotFound` as
    `session_of`."""
    of_project = Session.objects.filter(project=project).select_related("collection", "parent")
    by_id = of_project.in_bulk([id_ for each in names if (id_ := uuid_of(each))])
    keys = [each for each in names if uuid_of(each) not in by_id and KEY.fullmatch(each)]
    by_key = {each.key: each for each in of_project.filter(key__in=keys)} if keys else {}
    found = [by_id.get(uuid_of(each)) or by_key.get(each) for each in names]
    for name, session in zip(names, found, strict=True):
        if session is None:
            raise _not_found(project, name)
    return [each for each in found if each is not None]


def continuations_of(project: Project) -> QuerySet[Session]:
    """Return the branches of continuations. Their model calls are a replay, and not work that was recorded."""
    return Session.objects.filter(project=project, continues__isnull=False)


def action_of(session: Session, sequence: int) -> Action:
    """Return the session's action with that sequence. Raises `NotFound`."""
    found = actions_of(session).filter(sequence=sequence).first() if sequence < 2**63 else None
    if found is None:
        raise step_not_found(session, sequence)
    return found


def time_of(action: Action, session: Session) -> datetime | None:
    """Return when a step began, or if that is unknown, when it was recorded; None if it was recorded elsewhere."""
    was_recorded_here = session.imported_as is None
    return action.started_at or (action.recorded_at if was_recorded_here else None)


def step_not_found(session: Session, sequence: int) -> NotFound:
    """Return the error for a step that the session does not have."""
    return NotFound(
        f"Session {session.key} has no step {sequence}. It has steps 1 to {session.last_sequence}.",
        code="step_not_found",
    )


def actions_of(session: Session) -> QuerySet[Action]:
    """Return the session's actions with their payloads, in order."""
    return (
        Action.objects.filter(session=session)
        .select_related("input", "output", "source")
        .order_by("sequence")
    )


def resolve_moment(project: Project, text: str | None) -> datetime | None:
    """Return the moment that the text names, as `parse_typed_time` reads it; None for `now` and for an empty text.

    `X:N` is a step of a session unless X begins a time. Raises `InvalidInput`, also for a time in the future, and
    `NotFound`.
    """
    if text is None or text in ("", "now"):
        return None
    try:
        found = parse_typed_time(text)
    except InvalidInput as why:
        session, colon, sequence = text.rpartition(":")
        step = whole_number(sequence)
        if colon and step is not None and not _DAY_AND_HOUR.fullmatch(session):
            return action_of(session_of(project, session), step).recorded_at
        raise InvalidInput(
            f"`as_of` cannot be {text[:60]!r}. Write a time like 2026-11-20 09:00 (UTC unless it has an offset), a date (meaning the "
            "end of that day), `now`, or SESSION:STEP.",
            code="not_a_time",
            field="as_of",
        ) from why
    check_not_in_future(found, now())
    return found


def is_find_inside(asks: QuerySet[Action]) -> Q:
    """Return the condition for a find inside one of these asks, by the ask's sequence or client id."""
    same_session = asks.filter(session=OuterRef("session"))
    by_sequence = same_session.filter(sequence=OuterRef("parent_sequence"))
    by_id = same_session.filter(client_id=OuterRef("parent_id_given"))
    return Q(kind="find") & (Q(Exists(by_sequence)) | Q(Exists(by_id)))


def checkpoint_of(session: Session, name: int | str | None) -> Action:
    """Return the session's checkpoint with that sequence or name, or the last one. Raises `NotFound`."""
    found = actions_of(session).filter(kind="checkpoint").order_by("-sequence")
    if name is not None:
        number = whole_number(str(name))
        by_name = Q(name=str(name))
        found = found.filter(by_name if number is None else by_name | Q(sequence=number))
    checkpoint = found.first()
    if checkpoint is None:
        raise _no_checkpoint(session, name)
    return checkpoint


def _no_checkpoint(session: Session, name: int | str | None) -> NotFound:
    latest = actions_of(session).filter(kind="checkpoint").order_by("-sequence")[:_NAMED]
    there = [f"{(each.name or 'without a name')[:80]} ({each.sequence:,})" for each in latest]
    named = "" if name is None else f" {str(name)[:80]!r}"
    what_to_do = (
        f"Its latest are {', '.join(there)}. Choose one by name or number"
        if there
        else "It has none. Set one while it is recording (`checkpoint` of the recorder, `timemachine session checkpoint`)"
    )
    return NotFound(
        f"Session {session.key} has no checkpoint{named}. {what_to_do}.", code="checkpoint_not_found"
    )


def _not_found(project: Project, name: str) -> NotFound:
    """Return the error for an unknown session, or `session_deleted` if the project deleted it."""
    deletion = deletion_of(project, name)
    if deletion is not None:
        return session_deleted(deletion, name)
    return NotFound(
        f"There is no session {name[:80]!r} in this project. See the list of sessions.",
        code="session_not_found",
    )
