"""What of a session may change after it was recorded: how people call and group it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge.models import Collection
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.validation import check_head

CHANGEABLE = ("name", "metadata", "tags")


def describe(session: Session, **values: Any) -> Session:
    """Set the session's name, metadata or tags. Raises `InvalidInput` for an empty name, or what is too long."""
    given = {name: value for name, value in values.items() if name in CHANGEABLE and value is not None}
    if not str(given.get("name", session.name)).strip():
        raise InvalidInput("A session needs a name.", code="invalid_field", field="name")
    check_head(name=given.get("name"), tags=given.get("tags", ()))
    for name, value in given.items():
        setattr(session, name, value)
    if given:
        session.save(update_fields=list(given))
    return session


def let_go(collection: Collection) -> int:
    """Take a collection that is about to be erased from the sessions that name it; what they froze stays with them."""
    return Session.objects.filter(collection=collection).update(collection=None)


def end_imported(session_id: UUID, *, ended: datetime | None) -> Session:
    """Close an imported session at the end that its file tells, None where it tells none; of one that has grown the end moves, never to an earlier time.

    When it began stands in its sealed record, and stays what its first file said.
    """
    session = Session.objects.select_for_update().get(id=session_id)
    session.status = Session.ENDED
    if ended is not None and (session.ended_at is None or session.ended_at < ended):
        session.ended_at = ended
    session.save(update_fields=["status", "ended_at"])
    return session
