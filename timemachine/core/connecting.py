"""A connection of the web server's pool. Its class knows why connecting failed, which the pool itself only logs."""

from typing import Any, ClassVar, Self

from psycopg import Connection, OperationalError


class PooledConnection(Connection[Any]):
    """A connection; `last_failure` is why the last attempt to open one failed, None if it succeeded."""

    last_failure: ClassVar[OperationalError | None] = None

    @classmethod
    def connect(cls, conninfo: str = "", **options: Any) -> Self:
        """Connect, and remember why this failed."""
        try:
            made = super().connect(conninfo, **options)
        except OperationalError as why:
            PooledConnection.last_failure = why
            raise
        PooledConnection.last_failure = None
        return made
