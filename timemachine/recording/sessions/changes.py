"""Changes of a session after it was recorded: its name, metadata and tags."""

from datetime import datetime
from typing import Any
from uuid import UUID

from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge.models import Collection
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.validation import check_head

CHANGEABLE = ("name", "metadata", "tags")


def describe(session: Session, **values: Any) -> Session:
    """Set the session's name, metadata or tags. Raises `InvalidInput` if the name is empty or something is too long."""
    given = {name: value for name, value in values.items() if name in CHANGEABLE and value is not None}
    if not str(given.get("name", session.name)).strip():
        raise InvalidInput("A session needs a name.", code="invalid_field", field="name")
    check_head(name=given.get("name"), tags=given.get("tags", ()))
    for name, value in given.items():
        setattr(session, name, value)
    if given:
        session.save(update_fields=list(given))
    return session


def detach_collection(collection: Collection) -> int:
    """Remove a collection that is about to be erased from the sessions that use it. Their frozen passages stay."""
    return Session.objects.filter(collection=collection).update(collection=None)


def end_imported(session_id: UUID, *, ended: datetime | None) -> Session:
    """End an imported session at the time its file gives, or None. If the session has grown, its end can only move
    later.

    Its start is in its sealed record and does not change.
    """
    session = Session.objects.select_for_update().get(id=session_id)
    session.status = Session.ENDED
    if ended is not None and (session.ended_at is None or session.ended_at < ended):
        session.ended_at = ended
    session.save(update_fields=["status", "ended_at"])
    return session
