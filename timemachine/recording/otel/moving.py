"""Move the actions of a session that was started for a trace to the session that the trace belongs to."""

from typing import Any, Final
from uuid import UUID

from django.db import connection, models
from django.dispatch import Signal

from timemachine.core.pure.errors import NotFound
from timemachine.recording.otel.models import Trace
from timemachine.recording.otel.sql import describe_session
from timemachine.recording.sessions import action_rows
from timemachine.recording.sessions.locks import lock_against_sealing
from timemachine.recording.sessions.models import Action, Hit, Session

session_moved: Final = Signal()
"""All actions of `session` now belong to another one; the receiver deletes it. `by` says who moved them, `reason` why."""
MADE_BY_RECORDING: Final = frozenset(
    {
        "AccessHead", "Action", "ActionMeaning", "ActionIndexRow", "Bin", "Delivery", "FirstUse", "IndexedSession", "Latency", "PatternStep", "ReadSession", "Seal",
        "SearchedAction", "Trace", "Usage",
    }
)  # fmt: skip
"""Models whose rows recording creates automatically. If a session has any other rows, people made them, and the session stays."""
_OF_IMPORTS: Final = frozenset({"service"})
"""What imports of traces write into the metadata of a session."""
_COLUMNS: Final = [
    field.attname for field in Action._meta.concrete_fields if field.name not in ("id", "session", "sequence")
]
_MOVE_ACTIONS: Final = """
INSERT INTO tm_action (session_id, sequence, {columns})
SELECT %(new)s, %(last)s + row_number() OVER (ORDER BY sequence), {columns}
FROM tm_action AS old WHERE session_id = %(old)s AND NOT EXISTS (
    SELECT FROM tm_action AS there WHERE there.session_id = %(new)s AND there.client_id = old.client_id
)
ORDER BY sequence
"""
_HIT_COLUMNS: Final = [
    field.attname for field in Hit._meta.concrete_fields if field.name not in ("id", "action")
]
_MOVE_HITS: Final = """
INSERT INTO tm_hit (action_id, {columns})
SELECT new_id, {columns} FROM tm_hit JOIN (
    SELECT old.id AS old_id, new.id AS new_id FROM tm_action AS old
    JOIN tm_action AS new ON new.session_id = %(new)s AND new.client_id = old.client_id
    WHERE old.session_id = %(old)s AND new.sequence > %(last)s
) AS moved ON old_id = tm_hit.action_id
"""


def move_actions(trace: Trace, old: Session, new: Session, *, by: str) -> bool:
    """Append every action of the trace's own session to another session, and erase the old one.

    Returns False if the old session contains anything but spans of the trace. Anything of it that was sealed leaves a
    tombstone. Times, ids and parents of the actions stay; they get the next sequences.

    Raises `NotFound` if one of the two was erased in the meantime. Locks in the order of `evidence.sealing.seals.locked_seals`.
    """
    for session in sorted((old, new), key=lambda each: str(each.id)):
        lock_against_sealing(session)
    ids = [old.id, new.id]
    locked = {each.id: each for each in Session.objects.select_for_update().filter(id__in=ids).order_by("id")}
    if len(locked) < len(ids):
        raise NotFound("A session of these spans was deleted in the meantime.", code="session_not_found")
    source, target = locked[old.id], locked[new.id]
    if source.imported_as != target.imported_as or _has_more(source, trace):
        return False
    facts: dict[str, UUID | int] = {"old": old.id, "new": new.id, "last": target.last_sequence}
    with connection.cursor() as cursor:
        cursor.execute(_statement(_MOVE_ACTIONS, _COLUMNS), facts)
        cursor.execute(_statement(_MOVE_HITS, _HIT_COLUMNS), facts)
    moved = Action.objects.filter(session=target, sequence__gt=target.last_sequence)
    action_rows.add_to_counters(target, list(moved.values(*action_rows.COUNTED)))
    target.save(update_fields=action_rows.COUNTERS)
    named = source.name if source.name != source.key else None
    describe_session(new, agent=source.agent, user=source.user, began=source.started_at, name=named)
    trace.session, trace.own = target, False
    trace.save()  # before the session is deleted with everything that belongs to it
    reason = f"Its trace belongs to the session {new.id}."
    session_moved.send(Session, session=source, by=by, reason=reason)
    return True


def attached_relations() -> list[models.ForeignKey[Any, Any]]:
    """Return every relation by which something that people make belongs to a session."""
    relations = Session._meta.get_fields(include_hidden=True)
    fields = [each.field for each in relations if isinstance(each, models.ManyToOneRel)]
    return [field for field in fields if field.model.__name__ not in MADE_BY_RECORDING]


def _has_more(session: Session, trace: Trace) -> bool:
    recorded = session.imported_as is None
    if session.tags or session.metadata.keys() - (() if recorded else _OF_IMPORTS):
        return True
    if recorded and session.status != Session.RECORDING:
        return True
    if any(
        field.model._base_manager.filter(**{field.name: session}).exists() for field in attached_relations()
    ):
        return True
    ours = Action.objects.filter(session=session, client_id__startswith=f"{trace.trace}-")
    return ours.count() != session.last_sequence


def _statement(sql: str, columns: list[str]) -> str:
    return sql.format(columns=", ".join(f'"{name}"' for name in columns))
