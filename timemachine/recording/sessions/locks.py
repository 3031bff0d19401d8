"""Locks that keep sealing and erasing of a session apart, so that neither changes what the other has read.

A new seal has no row to lock yet, and a new row checks its session only at the end of its transaction. Both therefore
take an advisory lock on the session's name, always in this order: project, names of sessions, session, seals, log.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import connection

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session


def lock_against_erasure(sessions: Iterable[UUID]) -> None:
    """Lock these sessions against erasure until the transaction ends."""
    with connection.cursor() as cursor:
        for each in sorted(sessions):
            cursor.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))", [_name(each)])


def lock_against_sealing(session: Session) -> None:
    """Lock the session, its replays and comparisons, and the project's access logs against sealing until the transaction ends."""
    Project.objects.select_for_update(no_key=True).get(pk=session.project_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [_name(session.pk)])


def _name(session: UUID) -> str:
    return f"evidence of {session}"
