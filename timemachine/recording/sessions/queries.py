"""Finding sessions and their actions, always from the project that asks."""

from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import whole_number
from timemachine.knowledge.models import Collection as FrameCollection
from timemachine.recording.sessions.deletions import KEY, deletion_of, is_deleted
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.prepared_rows import columns, rows_of

_NAMED: Final = 5
"""Checkpoints that a refusal names at most."""
FAILED: Final = Q(error_type__isnull=False) | Q(error_message__isnull=False)
"""Which actions recorded an error."""


_SESSION: Final = f"""
SELECT {columns(Session, "s")}, {columns(FrameCollection, "c")}, {columns(Session, "p")}
FROM tm_session s LEFT JOIN tm_collection c ON c.id = s.collection_id LEFT JOIN tm_session p ON p.id = s.parent_id
WHERE s.project_id = %(project)s AND s."""  # noqa: S608  # names of columns
_BY_ID: Final = f"{_SESSION}id = %(wanted)s"
_BY_KEY: Final = f"{_SESSION}key = %(wanted)s"
_BY_IDS: Final = f"SELECT {columns(Session)} FROM tm_session WHERE project_id = %(project)s AND id = ANY(%(sessions)s::uuid[])"  # noqa: S608  # names of columns


def session_of(project: Project, id_or_key: str | UUID) -> Session:
    """The project's session of that uuid or key. Raises `NotFound`, the same for another project's; of one that the project deleted it says so."""
    written = str(id_or_key)
    wanted = uuid_of(written)
    found = None if wanted is None else _session(project, _BY_ID, wanted)
    if found is None and KEY.fullmatch(written):
        found = _session(project, _BY_KEY, written)
    if found is None:
        raise _not_found(project, written)
    return found


def _session(project: Project, sql: str, wanted: UUID | str) -> Session | None:
    facts = {"project": project.id, "wanted": wanted}
    return next(rows_of(Session, sql, facts, "collection", "parent"), None)


def sessions_by_id(project: Project, ids: Collection[UUID]) -> dict[UUID, Session]:
    """Those of the sessions that are the project's. One query."""
    facts = {"project": project.id, "sessions": list(ids)}
    return {each.id: each for each in rows_of(Session, _BY_IDS, facts)}


def sessions_named(project: Project, names: Sequence[str]) -> list[Session]:
    """The project's sessions of these uuids or keys, in their order. Two queries for any number. Raises `NotFound` as `session_of`."""
    of_project = Session.objects.filter(project=project).select_related("collection", "parent")
    by_id = of_project.in_bulk([wanted for each in names if (wanted := uuid_of(each))])
    keys = [each for each in names if uuid_of(each) not in by_id and KEY.fullmatch(each)]
    by_key = {each.key: each for each in of_project.filter(key__in=keys)} if keys else {}
    found = [by_id.get(uuid_of(each)) or by_key.get(each) for each in names]
    for name, session in zip(names, found, strict=True):
        if session is None:
            raise _not_found(project, name)
    return [each for each in found if each is not None]


def action_of(session: Session, sequence: int) -> Action:
    """The session's action with that sequence. Raises `NotFound`."""
    found = actions_of(session).filter(sequence=sequence).first() if sequence < 2**63 else None
    if found is None:
        raise NotFound(
            f"The session {session.key} has no step {sequence}; it has steps 1 to {session.last_sequence}.",
            code="step_not_found",
        )
    return found


def actions_of(session: Session) -> QuerySet[Action]:
    """The session's actions with their payloads, in their order."""
    return (
        Action.objects.filter(session=session)
        .select_related("input", "output", "source")
        .order_by("sequence")
    )


def is_find_inside(asks: QuerySet[Action]) -> Q:
    """Whether an action is a find inside one of these asks: by the ask's sequence, or by the id that its client gave it."""
    same_session = asks.filter(session=OuterRef("session"))
    by_sequence = same_session.filter(sequence=OuterRef("parent_sequence"))
    by_id = same_session.filter(client_id=OuterRef("parent_id_given"))
    return Q(kind="find") & (Q(Exists(by_sequence)) | Q(Exists(by_id)))


def checkpoint_of(session: Session, name: int | str | None) -> Action:
    """The session's checkpoint of that sequence or name; the last one where none is named. Raises `NotFound`."""
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
        f"its latest are {', '.join(there)}; name one of them, by its name or number"
        if there
        else "it has none at all; set one while it records (`checkpoint` of the recorder, `timemachine session checkpoint`)"
    )
    return NotFound(
        f"The session {session.key} has no checkpoint{named}; {what_to_do}.", code="checkpoint_not_found"
    )


def _not_found(project: Project, name: str) -> NotFound:
    """That there is no such session, or that the project deleted it: `session_deleted`, with when, by whom and why."""
    gone = deletion_of(project, name)
    if gone is not None:
        return is_deleted(gone, name)
    return NotFound(
        f"There is no session {name[:80]!r} in this project; the list of sessions shows those there are.",
        code="session_not_found",
    )
