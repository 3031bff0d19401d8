"""A database that does not answer, or not now."""

from django.db import InterfaceError, OperationalError
from psycopg.errors import ProgramLimitExceeded


def is_away(error: BaseException | None) -> bool:
    """Whether the database may take later what it did not take now; never what is larger than it can hold."""
    return isinstance(error, OperationalError | InterfaceError) and not isinstance(
        error.__cause__, ProgramLimitExceeded
    )
