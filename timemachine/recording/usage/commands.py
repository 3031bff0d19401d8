"""Counting anew what triggers count while it is recorded: after something of a session was erased."""

from uuid import UUID

from django.db import connection


def count_anew(session_id: UUID) -> None:
    """Count usage, latencies and the first uses of passages from the session as it is now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tm_recount_session(%s)", [session_id])
