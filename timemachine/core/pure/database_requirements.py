"""What a database needs so that Time Machine can use it, and the sentence for each thing that is missing."""

from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.errors import Unavailable

OLDEST_POSTGRES: Final = 15
NEWEST_POSTGRES: Final = 18
"""The newest version that Time Machine was tested with."""
TWO_DATABASES: Final = (
    "DATABASE_URL and DATABASE_OWNER_URL lead to different databases: name the same host, port and database in both, "
    "with two users."
)
NO_REPLICA: Final = (
    "DATABASE_REPLICA_URL does not lead to a streaming replica of the database in DATABASE_URL: name a standby server of it, "
    "with the same database, or leave it out."
)
OLDEST_PGVECTOR: Final = (0, 7)
"""The first version with `halfvec` and `sparsevec`."""
_VERSION_DIGITS: Final = 10_000
"""`server_version_num` is the major version times this, plus the minor one."""


class Unsuitable(Unavailable):
    """The database can be reached but not used. The message says what to change."""

    default_code = "database_unsuitable"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """What a database says about itself: versions, encoding, and whether a pooler moves clients between connections.

    `installed` is the version of pgvector in this database, `available` the one that could be installed.
    `trigger_problem` says what is wrong with its triggers, if it has all migrations. `role_warning` says which rights the
    application should not have. With `owner_is_elsewhere`, the owner's URL leads to another database.
    """

    version: int
    encoding: str
    installed: str | None
    available: str | None
    shares_connections: bool
    owner_is_elsewhere: bool = False
    trigger_problem: str | None = None
    role_warning: str | None = None

    @property
    def postgres(self) -> int:
        """The major version of PostgreSQL."""
        return self.version // _VERSION_DIGITS


def check(facts: DatabaseFacts) -> None:
    """Raise `Unsuitable` with the first thing that is missing."""
    problems = (_version(facts), _encoding(facts), _pgvector(facts), _pooler(facts), _owner(facts))
    for wrong in (*problems, facts.trigger_problem):
        if wrong:
            raise Unsuitable(wrong)


def _version(facts: DatabaseFacts) -> str | None:
    if facts.postgres >= OLDEST_POSTGRES:
        return None
    return (
        f"The database runs PostgreSQL {facts.postgres}, but Time Machine needs {OLDEST_POSTGRES} or newer: "
        "upgrade the database, or set DATABASE_URL to another one."
    )


def _encoding(facts: DatabaseFacts) -> str | None:
    if facts.encoding == "UTF8":
        return None
    return (
        f"The database has the encoding {facts.encoding}, in which not every text can be recorded: "
        "create one with `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`."
    )


def _pgvector(facts: DatabaseFacts) -> str | None:
    needed = ".".join(map(str, OLDEST_PGVECTOR))
    if facts.installed is None and facts.available is None:
        return (
            f"The extension pgvector is missing on the database server: install pgvector {needed} or newer there, "
            f"for example the package postgresql-{facts.postgres}-pgvector."
        )
    if facts.installed is not None and not _is_recent(facts.installed):
        if facts.available is not None and _is_recent(facts.available):
            return (
                f"This database has pgvector {facts.installed}, but Time Machine needs {needed} or newer: "
                "run `ALTER EXTENSION vector UPDATE` in it."
            )
        return _too_old(facts.installed)
    if facts.installed is None and facts.available is not None and not _is_recent(facts.available):
        return _too_old(facts.available)
    return None


def _too_old(version: str) -> str:
    needed = ".".join(map(str, OLDEST_PGVECTOR))
    return (
        f"The database server has pgvector {version}, but Time Machine needs {needed} or newer: "
        "install a newer pgvector there."
    )


def _is_recent(version: str) -> bool:
    parts = tuple(int(part) for part in version.split(".") if part.isdecimal())
    return parts >= OLDEST_PGVECTOR


def _pooler(facts: DatabaseFacts) -> str | None:
    if not facts.shares_connections:
        return None
    return (
        "DATABASE_URL leads to a pooler that gives the connection to another client after each transaction (in "
        "PgBouncer, `pool_mode = transaction`), which loses the locks and prepared statements of Time Machine: connect "
        "to PostgreSQL itself, or set `pool_mode = session`."
    )


def _owner(facts: DatabaseFacts) -> str | None:
    return TWO_DATABASES if facts.owner_is_elsewhere else None
