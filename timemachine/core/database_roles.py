"""The two roles: the owner of the tables, and the application, which only reads and writes rows.

With `DATABASE_OWNER_URL`, the alias `owner` is the connection of the owner. Without, the application is the owner.
"""

from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

import timemachine
from timemachine.core.pure.database_requirements import Unsuitable

_OWNER: Final = "owner"
_GRANTS: Final = Path(timemachine.__path__[0]) / "sql" / "grants.sql"
_STANDING: Final = """
SELECT rolsuper, pg_has_role((SELECT relowner FROM pg_class WHERE oid = 'tm_action'::regclass), 'MEMBER')
FROM pg_roles WHERE rolname = current_user
"""

_LIKE_THE_OWNER: Final = """
SELECT true, rolsuper OR pg_has_role(rolname, current_user, 'MEMBER') FROM pg_roles WHERE rolname = %s
"""


class Standing(StrEnum):
    """What the role of the application is to the tables."""

    LIMITED = "limited"
    OWNER = "owner"
    SUPERUSER = "superuser"


_PROTECTED: Final = "can disable the triggers that protect what was recorded"
_SEPARATE: Final = "Separate them: see “Which roles does the database need?” in docs/operating.md."
SENTENCES: Final = {
    Standing.LIMITED: "The server reads and writes rows, and cannot change tables or triggers.",
    Standing.OWNER: f"The server connects as the owner of the tables, who {_PROTECTED}. {_SEPARATE}",
    Standing.SUPERUSER: f"The server connects to the database as a superuser, who {_PROTECTED}. {_SEPARATE}",
}


def owner_alias() -> str:
    """Return the alias of the connection that may change tables and indexes."""
    return _OWNER if has_owner_connection() else DEFAULT_DB_ALIAS


def has_owner_connection() -> bool:
    """Return whether this program also connects as the owner of the tables."""
    return _OWNER in settings.DATABASES


def standing() -> Standing:
    """Return what the role with which this program reads and writes may do. The tables must exist."""
    with connection.cursor() as cursor:
        cursor.execute(_STANDING)
        is_superuser, is_owner = cursor.fetchone()
    if is_superuser:
        return Standing.SUPERUSER
    return Standing.OWNER if is_owner else Standing.LIMITED


def create_application_role() -> None:
    """Create the role in `DATABASE_URL` as the owner, or give it the password there if it has another one.

    Raises: Unsuitable if this role may do what the owner may.
    """
    role, password = _application()
    with connections[_OWNER].cursor() as cursor:
        cursor.execute(_LIKE_THE_OWNER, [role])
        exists, like_the_owner = cursor.fetchone() or (False, False)
    if like_the_owner:
        raise Unsuitable(
            f"The role {role} in DATABASE_URL may do what the one in DATABASE_OWNER_URL may: "
            "name another role in DATABASE_URL, which is created if it does not exist, or leave out DATABASE_OWNER_URL."
        )
    server: psycopg.Connection[object] = connections[_OWNER].connection
    verb = sql.SQL("ALTER" if exists else "CREATE")
    statement = sql.SQL("{} ROLE {} LOGIN").format(verb, sql.Identifier(role))
    if password:  # hashed here, so that no log of statements has it
        hashed = server.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        statement += sql.SQL(" PASSWORD {}").format(hashed.decode())
    if not exists:
        server.execute(statement)
    elif password and _is_wrong_password():
        with suppress(InsufficientPrivilege):  # then connecting says what is wrong
            server.execute(statement)


def _is_wrong_password() -> bool:
    try:
        psycopg.connect(**connections[DEFAULT_DB_ALIAS].get_connection_params()).close()
    except psycopg.OperationalError as why:
        return "password authentication failed" in str(why)
    return False


@transaction.atomic(using=_OWNER)
def grant_to_application() -> None:
    """Let the role in `DATABASE_URL` read and write the rows of all tables, as the owner."""
    role, _ = _application()
    with connections[_OWNER].cursor() as cursor:
        cursor.execute("SELECT set_config('timemachine.application_role', %s, true)", [role])
        cursor.execute(_GRANTS.read_text(encoding="utf-8"))


def _application() -> tuple[str, str]:
    found = settings.DATABASES[DEFAULT_DB_ALIAS]
    return str(found["USER"]), str(found["PASSWORD"])
