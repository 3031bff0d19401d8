"""Recognise a database that is temporarily unavailable."""

from django.db import InterfaceError, OperationalError
from psycopg.errors import ProgramLimitExceeded


def is_unavailable(error: BaseException | None) -> bool:
    """Return whether the database may accept later what it did not accept now. False if a value is too large for it."""
    return isinstance(error, OperationalError | InterfaceError) and not isinstance(
        error.__cause__, ProgramLimitExceeded
    )
