"""The database to back up or to restore into: that of the operator, or the one in the data folder."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from timemachine.core.pure.database_requirements import TWO_DATABASES
from timemachine.core.pure.errors import Conflict, NotFound, Unavailable
from timemachine.core.pure.home import DATABASE_IS_ELSEWHERE, home, running_server
from timemachine.core.pure.same_database import is_same_database
from timemachine.core.pure.secret_settings import secret
from timemachine.embedded import postgres
from timemachine.embedded.backups.client_programs import ServerFacts
from timemachine.embedded.data_folder import clear_socket_folder, only_one, socket_folder

_CONNECT_SECONDS: Final = 10
_OWN: Final = """
SELECT n.nspname, c.relname, c.relkind = 'r'
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY 1, 2
"""


def chosen_database() -> str:
    """Return `DATABASE_OWNER_URL`, else `DATABASE_URL`, empty if neither is set."""
    return secret("DATABASE_OWNER_URL") or secret("DATABASE_URL")


def refuse_two_databases() -> None:
    """Raise `Conflict` if `DATABASE_URL` and `DATABASE_OWNER_URL` are known to lead to different databases."""
    urls = secret("DATABASE_OWNER_URL"), secret("DATABASE_URL")
    if not all(urls):
        return
    with suppress(psycopg.OperationalError), ExitStack() as stack:  # the application may not exist yet
        both = [stack.enter_context(psycopg.connect(url, connect_timeout=_CONNECT_SECONDS)) for url in urls]
        if not is_same_database(*both):
            raise Conflict(TWO_DATABASES)


@contextmanager
def existing_database() -> Iterator[str]:
    """Yield the URL of the database of this installation; start the one in the data folder if no server runs."""
    chosen = chosen_database()
    if chosen:
        refuse_two_databases()
        yield chosen
        return
    if not home().is_dir():
        raise NotFound(f"There is no data in {home()}. Set TIMEMACHINE_HOME or DATABASE_URL.")
    with ExitStack() as stopping:
        try:
            stopping.enter_context(only_one(home(), "a backup"))
        except Conflict as why:
            running = running_server()
            if running is None:
                raise Conflict(
                    f"Another process uses {home()}: a backup, or a server that is starting. Try again when it has finished."
                ) from why
            url = running.database_owner_url or running.database_url
            if not url:
                raise Conflict(DATABASE_IS_ELSEWHERE) from None
            yield url
            return
        postgres.refuse_other_version(home() / "postgres")
        if not (home() / "postgres").is_dir():
            raise NotFound(f"There is no database in {home()}. Set TIMEMACHINE_HOME or DATABASE_URL.")
        yield start_in(home(), stopping, log=home() / "logs" / "postgres.log")


def start_in(folder: Path, stopping: ExitStack, *, log: Path, binaries: Path | None = None) -> str:
    """Start the database of a folder, which runs until `stopping` is closed, and return the URL of its owner.

    `binaries` are those of an older version, if it is not of this one.
    """
    sockets = socket_folder(home())
    stopping.callback(clear_socket_folder, home(), sockets)
    cluster = postgres.Cluster(data=folder / "postgres", sockets=sockets, log=log, binaries=binaries)
    stopping.callback(postgres.stop, postgres.start(cluster))
    return cluster.owner_url


@contextmanager
def connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect to the database. Raises `Unavailable` if that fails or the connection is lost."""
    try:
        with psycopg.connect(url, connect_timeout=_CONNECT_SECONDS, autocommit=True) as connection:
            yield connection
    except psycopg.Error as why:
        raise Unavailable(f"The database does not work: {str(why).strip().partition('\n')[0]}.") from why


def facts_of(connection: psycopg.Connection[Any]) -> ServerFacts:
    """Return what decides which programs suit the server."""
    return ServerFacts(version=connection.info.server_version // 10_000, tls=connection.pgconn.ssl_in_use)


def row_counts(connection: psycopg.Connection[Any]) -> dict[str, int]:
    """Count the rows of every table; empty if the database is."""
    counts = {}
    for schema, name, is_table in connection.execute(_OWN).fetchall():
        if is_table:
            query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, name))
            counts[f"{schema}.{name}"] = (connection.execute(query).fetchone() or (0,))[0]
    return counts


def has_rows(url: str, rows: dict[str, int]) -> bool:
    """Collect statistics of a database that was just filled; return whether every table has this many rows."""
    with connected(url) as connection:
        connection.execute("ANALYZE")
        return row_counts(connection) == rows


def is_empty(connection: psycopg.Connection[Any]) -> bool:
    """Whether the database has no table, view or sequence, apart from those of extensions."""
    return connection.execute(_OWN).fetchone() is None


def address_of(url: str) -> str:
    """Return the database's name and host for messages, without its password."""
    parts = conninfo_to_dict(url)
    return f"{parts.get('dbname', '')} on {parts.get('host') or 'this machine'}"
