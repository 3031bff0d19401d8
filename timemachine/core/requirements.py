"""Whether this database can be used: checked when a program starts, through connections that are closed again."""

import logging
import sys
from typing import Any, Final

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.errors import ProtocolViolation

from timemachine.core.database_roles import has_owner_connection, owner_alias, rights_from
from timemachine.core.pure.database_requirements import (
    NEWEST_POSTGRES,
    NO_REPLICA,
    TWO_DATABASES,
    DatabaseFacts,
    Unsuitable,
    check,
)
from timemachine.core.pure.same_database import is_same_database
from timemachine.core.replica import ALIAS as REPLICA_ALIAS
from timemachine.core.replica import has_replica
from timemachine.core.triggers import Query, has_every_trigger, problem_with_triggers

log = logging.getLogger(__name__)

_CONNECT_SECONDS: Final = 5
_PROBES: Final = 3
_IDENTITY: Final = """
SELECT pg_is_in_recovery(), system_identifier, current_database() FROM pg_control_system()
"""
_FACTS: Final = """
SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
    (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
    (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')
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


def check_same_database() -> None:
    """Raise `Unsuitable` if owner and application use different databases, `psycopg.Error` if one cannot connect."""
    if not _is_one_database():
        raise Unsuitable(TWO_DATABASES)


def check_replica() -> None:
    """Raise `Unsuitable` if `DATABASE_REPLICA_URL` leads to another server than a replica. That it does not answer is logged."""
    try:
        with _connected(DEFAULT_DB_ALIAS) as primary, _connected(REPLICA_ALIAS) as replica:
            _, *expected = _identity(primary)
            is_replica, *found = _identity(replica)
    except psycopg.Error as why:
        log.warning("the replica does not answer, so the primary does: %s", str(why).partition("\n")[0])
        return
    if not is_replica or found != expected:
        raise Unsuitable(NO_REPLICA)


def _identity(client: psycopg.Connection[Any]) -> tuple[Any, ...]:
    """Return whether it is a replica, and what it has in common with its primary."""
    return client.execute(_IDENTITY).fetchone() or ()


def exit_if_unsuitable() -> None:
    """End this program with one sentence if the database cannot be used. One that does not answer may do so later.

    Rights that it does not need are only logged.
    """
    try:
        warning = check_database().role_warning
        if warning:
            log.warning(warning)
        if has_replica():
            check_replica()
    except Unsuitable as why:
        sys.exit(why.message)
    except psycopg.Error as why:
        log.warning("the database could not be checked: %s", str(why).partition("\n")[0])


def _read_facts(alias: str) -> DatabaseFacts:
    with _connected(alias) as first, _connected(alias) as second:

        def query(sql: str) -> list[tuple[Any, ...]]:
            return first.execute(sql).fetchall()

        version, encoding, installed, available = query(_FACTS)[0]
        shares_connections = _shares_connections(first, second)
        return DatabaseFacts(
            version=version,
            encoding=encoding,
            installed=installed,
            available=available,
            shares_connections=shares_connections,
            owner_is_elsewhere=not shares_connections and _owner_is_elsewhere(),
            trigger_problem=problem_with_triggers(query) if has_every_trigger(query) else None,
            role_warning=_role_warning(query),
        )


def _connected(alias: str) -> psycopg.Connection[Any]:
    parameters = connections[alias].get_connection_params()
    options: dict[str, Any] = {"connect_timeout": _CONNECT_SECONDS, **parameters, "autocommit": True}
    return psycopg.connect(**options)


def _owner_is_elsewhere() -> bool:
    """Return whether owner and application are known to use different databases. The application may not exist yet."""
    try:
        return has_owner_connection() and not _is_one_database()
    except psycopg.OperationalError:
        return False


def _is_one_database() -> bool:
    with _connected(owner_alias()) as owner, _connected(DEFAULT_DB_ALIAS) as application:
        return is_same_database(owner, application)


def _role_warning(query: Query) -> str | None:
    rights = rights_from(query)
    return rights.sentence if rights.is_superuser or rights.revoke else None


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
