"""SQL statements for traces and their sessions."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import psycopg
from django.db import connection, transaction

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.core.pure.postgres_text import storable
from timemachine.recording.sessions.locks import lock_against_sealing
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.validation import LONGEST_WORD

# A chosen name stays. The header of a session that was sealed, even in part, never changes.
_DESCRIBE = """
UPDATE tm_session AS s SET
    agent = coalesce(s.agent, %(agent)s), "user" = coalesce(s."user", %(user)s),
    started_at = least(s.started_at, %(began)s), name = CASE WHEN s.name = s.key THEN coalesce(%(name)s, s.name) ELSE s.name END
WHERE s.id = %(id)s AND NOT EXISTS (SELECT FROM tm_seal WHERE session_id = s.id)
"""
_INSERT_TRACES = """
INSERT INTO tm_trace (project_id, trace, session_id, own)
SELECT %b, new.trace, new.session, new.session IS NULL FROM unnest(%b::text[], %b::uuid[]) AS new(trace, session)
ORDER BY new.trace ON CONFLICT (project_id, trace) DO NOTHING RETURNING trace
"""


def lock_project(project: Project, *, exclusively: bool) -> None:
    """Keep anything of the project from being erased or moved until this transaction ends.

    `exclusively` if this transaction is going to move actions itself.
    """
    rows = Project.objects.filter(pk=project.pk)
    if exclusively:
        rows.select_for_update(no_key=True).get()
    else:
        prepared_statements.send("SELECT FROM tm_project WHERE id = %(id)s FOR SHARE", {"id": project.pk})


def describe_session(
    session: Session, *, agent: str | None, user: str | None, began: datetime | None, name: str | None
) -> None:
    """Set what the session did not have: its agent, its user, an earlier start, and a name if it only has its key."""
    changes = (
        (agent is not None and session.agent is None)
        or (user is not None and session.user is None)
        or (began is not None and began < session.started_at)
        or (name is not None and session.name == session.key)
    )
    if not changes:
        return
    texts = {"agent": agent, "user": user, "name": name}
    values = {field: value and storable(value[:LONGEST_WORD]) for field, value in texts.items()}
    with transaction.atomic():
        lock_against_sealing(session)
        with connection.cursor() as cursor:
            cursor.execute(_DESCRIBE, {**values, "began": began, "id": session.id})


def insert_traces(project: UUID, traces: Mapping[str, UUID | None]) -> set[str]:
    """Store the session of each trace (None: not known yet) unless the trace is already stored. Return the traces that
    are new."""
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(_INSERT_TRACES, [project, list(traces), list(traces.values())])
        return {trace for (trace,) in cursor}
