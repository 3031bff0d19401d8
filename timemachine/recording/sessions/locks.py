"""Advisory locks on names, for what has no row to lock yet. They last until the transaction ends.

Two of them keep sealing and erasing of a session apart, so that neither changes what the other has read: a new seal
has no row to lock yet, and a new row checks its session only at the end of its transaction. They are always taken in
this order: project, names of sessions, session, seals, log.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import connection

from timemachine.core.accounts.models import Project
from timemachine.core.database import lock_until_commit
from timemachine.recording.sessions.models import Session


def lock_keys(project: Project, *keys: str | None) -> None:
    """Keep others from starting sessions with these keys, or sessions that wait for them, until the transaction ends."""
    lock_until_commit(*(f"session {project.id} {key}" for key in keys if key is not None))


def lock_against_erasure(sessions: Iterable[UUID]) -> None:
    """Lock these sessions against erasure until the transaction ends."""
    with connection.cursor() as cursor:
        for each in sorted(sessions):
            cursor.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))", [_name(each)])


def lock_against_sealing(session: Session) -> None:
    """Lock the session, its replays and comparisons, and the project's access logs against sealing until the transaction ends."""
    Project.objects.select_for_update(no_key=True).get(pk=session.project_id)
    lock_until_commit(_name(session.pk))


def _name(session: UUID) -> str:
    return f"evidence of {session}"
