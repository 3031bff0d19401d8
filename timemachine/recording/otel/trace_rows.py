"""Traces of which a span comes for the first time, in one statement for a whole request."""

from collections.abc import Mapping
from uuid import UUID

import psycopg
from django.db import connection

_ENTER = """
INSERT INTO tm_trace (project_id, trace, session_id, own)
SELECT %b, new.trace, new.session, new.session IS NULL FROM unnest(%b::text[], %b::uuid[]) AS new(trace, session)
ORDER BY new.trace ON CONFLICT (project_id, trace) DO NOTHING RETURNING trace
"""


def enter(project: UUID, traces: Mapping[str, UUID | None]) -> set[str]:
    """Keep which session each trace belongs to (None: not known yet), where it is not kept; which ones are new."""
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(_ENTER, [project, list(traces), list(traces.values())])
        return {trace for (trace,) in cursor}
