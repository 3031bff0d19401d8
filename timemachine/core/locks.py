"""Locks by name, which PostgreSQL holds until the transaction ends."""

from django.db import connection


def lock_until_commit(name: str) -> None:
    """Wait until no other transaction holds the lock with this name, and hold it until this one ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
