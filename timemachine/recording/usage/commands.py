"""Recount what triggers count during recording, after something of a session was erased."""

from uuid import UUID

from django.db import connection


def recount(session_id: UUID) -> None:
    """Recount usage, latencies and first uses of passages from the session as it is now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tm_recount_session(%s)", [session_id])
