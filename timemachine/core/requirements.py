"""Whether this database can be used: checked when a program starts, through connections that are closed again."""

import logging
import sys
from typing import Any, Final

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.errors import ProtocolViolation

from timemachine.core.database_roles import SENTENCES, Standing
from timemachine.core.pure.database_requirements import NEWEST_POSTGRES, DatabaseFacts, Unsuitable, check
from timemachine.core.triggers import has_every_trigger, problem_with_triggers

log = logging.getLogger(__name__)

_CONNECT_SECONDS: Final = 5
_PROBES: Final = 3
_FACTS: Final = """
SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
    (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
    (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
"""


def check_database(alias: str = DEFAULT_DB_ALIAS) -> DatabaseFacts:
    """Return what is known about the database.

    Raises `Unsuitable` if it cannot be used, `psycopg.Error` if it does not answer.
    """
    facts = _read_facts(alias)
    check(facts)
    if facts.postgres > NEWEST_POSTGRES:
        log.warning(
            "Time Machine was not tested with PostgreSQL %s, only up to %s.", facts.postgres, NEWEST_POSTGRES
        )
    return facts


def exit_if_unsuitable() -> None:
    """End this program with one sentence if the database cannot be used. One that does not answer may do so later.

    That the program is a superuser of the database is only logged.
    """
    try:
        if check_database().is_superuser:
            log.warning(SENTENCES[Standing.SUPERUSER])
    except Unsuitable as why:
        sys.exit(why.message)
    except psycopg.Error as why:
        log.warning("the database could not be checked: %s", str(why).partition("\n")[0])


def _read_facts(alias: str) -> DatabaseFacts:
    parameters = connections[alias].get_connection_params()
    options: dict[str, Any] = {"connect_timeout": _CONNECT_SECONDS, **parameters, "autocommit": True}
    with psycopg.connect(**options) as first, psycopg.connect(**options) as second:
        row = first.execute(_FACTS).fetchone()
        version, encoding, installed, available, is_superuser = row or (0, "", None, None, False)
        return DatabaseFacts(
            version=version,
            encoding=encoding,
            installed=installed,
            available=available,
            shares_connections=_shares_connections(first, second),
            is_superuser=is_superuser,
            trigger_problem=_trigger_problem(first),
        )


def _trigger_problem(client: psycopg.Connection[Any]) -> str | None:
    def query(sql: str) -> list[tuple[Any, ...]]:
        return client.execute(sql).fetchall()

    return problem_with_triggers(query) if has_every_trigger(query) else None


def _shares_connections(first: psycopg.Connection[Any], second: psycopg.Connection[Any]) -> bool:
    """Return whether the two clients get each other's connections to the server: there is a pooler, and not by session."""
    try:
        for _ in range(_PROBES):
            own = _server_process(first)
            with second.transaction():
                if _server_process(second) == own or _server_process(first) != own:
                    return True
    except ProtocolViolation:  # transactions are not possible at all: a pooler by statement
        return True
    return False


def _server_process(client: psycopg.Connection[Any]) -> int:
    row = client.execute("SELECT pg_backend_pid()", prepare=False).fetchone()
    return int(row[0]) if row else 0
