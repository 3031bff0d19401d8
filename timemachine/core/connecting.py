"""Connections of the web server's pools: what happens if the server is away, or does not answer."""

from typing import Any, ClassVar, Final, Self

from psycopg import Connection, OperationalError
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout

ANSWER_SECONDS: Final = 10.0
"""How long a replica may take for a statement."""


class PooledConnection(Connection[Any]):
    """A connection to the database. Why connecting failed, the pool itself only logs; `last_failure` is why the last attempt to open one failed, None if it succeeded."""

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


class ReplicaConnection(Connection[Any]):
    """A connection to the replica, which is closed if a statement takes longer than `ANSWER_SECONDS`, as on a frozen machine."""

    def wait[Result](self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = None) -> Result:
        """Wait for the answer to what was sent. Raises `OperationalError` if there is none in time."""
        try:
            return super().wait(gen, interval, ANSWER_SECONDS if timeout is None else timeout)
        except _WaitTimeout as why:
            self.close()
            raise OperationalError(f"it did not answer within {ANSWER_SECONDS:g} seconds") from why
