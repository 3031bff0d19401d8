"""Many questions to the database about one moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """What is read inside is as it stood at the first question, whatever others write meanwhile; nothing can be written inside.

    Inside a transaction that runs already, it is that one, and promises what that one promises.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
