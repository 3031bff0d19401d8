"""Why the database did not do what it was asked, by the SQLSTATE or the text of its error.

All of them are answered with 503, also a full disk: exporters of OpenTelemetry and recorders send again what a 503
refused, but drop what a 507 refused.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from timemachine.core.pure.errors import Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A cause that may be gone later: `code` for programs, `cause` for people, `details` for the server's log."""

    code: str
    cause: str
    retry_after_seconds: int = 2
    details: str = ""

    def refusal(self) -> Unavailable:
        """Return the error for programs, which says to send the request again."""
        return Unavailable(
            f"{self.cause} Send the request again.",
            code=self.code,
            retry_after_seconds=self.retry_after_seconds,
        )


AWAY: Final = Failure(code="database_away", cause="The database cannot be reached.")
CONNECTIONS_USED_UP: Final = Failure(
    code="database_connections_used_up", cause="All connections to the database are in use."
)
DISK_FULL: Final = Failure(
    code="disk_full",
    cause="The disk of this server is full. Its operator has to free some space.",
    retry_after_seconds=30,
)
"""The disk of the web server or worker, not that of the database."""
_DATABASE_DISK_FULL: Final = Failure(
    code="database_disk_full",
    cause="The disk of the database is full, so nothing can be saved. Its operator has to free some space.",
    retry_after_seconds=30,
)
_OUT_OF_MEMORY: Final = Failure(
    code="database_out_of_memory", cause="The database is out of memory.", retry_after_seconds=10
)
_LIMIT_REACHED: Final = Failure(
    code="database_limit_reached",
    cause="The database has reached a limit of its configuration.",
    retry_after_seconds=10,
)
_READ_ONLY: Final = Failure(
    code="database_read_only",
    cause="The database accepts no changes: it is a standby, or it was made read-only.",
    retry_after_seconds=30,
)
_LOCKED: Final = Failure(
    code="database_locked", cause="The same data is being changed by others, and waiting took too long."
)
_TIMED_OUT: Final = Failure(
    code="database_timeout", cause="The database stopped this because it took too long."
)
_RESTARTING: Final = Failure(code="database_restarting", cause="The database is stopping or starting.")
_REFUSED: Final = Failure(
    code="database_refused",
    cause="The database does not accept the user, password or database name of this server. "
    "Its operator has to correct `DATABASE_URL`.",
    retry_after_seconds=30,
)
_STORAGE_FAILED: Final = Failure(
    code="database_storage_failed",
    cause="The database cannot read or write its files. Its operator finds the reason in the database's log.",
    retry_after_seconds=30,
)

_BY_SQLSTATE: Final = {
    "25006": _READ_ONLY,
    "25P03": _TIMED_OUT,
    "25P04": _TIMED_OUT,
    "3D000": _REFUSED,
    "40001": _LOCKED,
    "40P01": _LOCKED,
    "53100": _DATABASE_DISK_FULL,
    "53200": _OUT_OF_MEMORY,
    "53300": CONNECTIONS_USED_UP,
    "55P03": _LOCKED,
    "57014": _TIMED_OUT,
    "57P01": _RESTARTING,
    "57P02": _RESTARTING,
    "57P03": _RESTARTING,
    "57P04": _REFUSED,
    "XX001": _STORAGE_FAILED,
    "XX002": _STORAGE_FAILED,
}
_BY_CLASS: Final = {
    "08": AWAY,
    "28": _REFUSED,
    "53": _LIMIT_REACHED,
    "57": AWAY,
    "58": _STORAGE_FAILED,
}
"""The first two characters of other SQLSTATEs."""
_WHEN_CONNECTING: Final = (
    (r"too many clients|connection slots are reserved|too many connections", CONNECTIONS_USED_UP),
    (r"starting up|shutting down|in recovery mode|not yet accepting|not accepting connections", _RESTARTING),
    (
        r"password|authentication|no pg_hba\.conf entry|(role|database) \".*\" does not exist|permission denied for database",
        _REFUSED,
    ),
    (r"No space left on device", _DATABASE_DISK_FULL),
)
"""What the text of an error has that was raised while connecting: the driver does not pass on its SQLSTATE."""


def failure_from(sqlstate: str | None, text: str) -> Failure | None:
    """Return why the database failed, or None if the statement itself was wrong.

    Args:

        sqlstate: The code of the error. None if the driver raised it itself, mostly because there is no connection.
        text: Its message. Only the first line becomes part of the failure; later ones can quote rows.
    """
    found = _without_code(text) if sqlstate is None else _by_code(sqlstate)
    return found and replace(found, details=text.partition("\n")[0])


def _without_code(text: str) -> Failure:
    reason = text.partition("FATAL:")[2]  # what the server said; the rest names addresses
    return next((each for pattern, each in _WHEN_CONNECTING if re.search(pattern, reason)), AWAY)


def _by_code(sqlstate: str) -> Failure | None:
    return _BY_SQLSTATE.get(sqlstate) or _BY_CLASS.get(sqlstate[:2])
