"""The two roles: the owner of the tables, and the application, which only reads and writes rows.

With `DATABASE_OWNER_URL`, the alias `owner` is the connection of the owner. Without, the application is the owner.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

import timemachine
from timemachine.core.pure.database_requirements import Unsuitable
from timemachine.core.triggers import Query

_OWNER: Final = "owner"
_GRANTS: Final = Path(timemachine.__path__[0]) / "sql" / "grants.sql"
_RIGHTS: Final = """
WITH excess AS (
    SELECT format('REVOKE %s ON DATABASE %I FROM PUBLIC, %I', privilege, current_database(), current_user) AS revoke
    FROM unnest(ARRAY['CREATE', 'TEMPORARY']) AS privilege
    WHERE has_database_privilege(current_database(), privilege)
    UNION ALL
    SELECT format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC, %I', nspname, current_user) FROM pg_namespace
    WHERE nspname IN ('public', 'pgmq') AND has_schema_privilege(oid, 'CREATE')
    UNION ALL
    SELECT format('REVOKE TRUNCATE, TRIGGER ON %s FROM PUBLIC, %I', oid::regclass, current_user) FROM pg_class
    WHERE relkind IN ('r', 'p') AND relname LIKE 'tm\\_%' AND relnamespace = 'public'::regnamespace
    AND has_table_privilege(oid, 'TRUNCATE, TRIGGER')
)
SELECT rolsuper,
    coalesce(pg_has_role((SELECT relowner FROM pg_class WHERE oid = to_regclass('tm_action')), 'MEMBER'), false),
    (SELECT revoke FROM excess LIMIT 1)
FROM pg_roles WHERE rolname = current_user
"""
_LIKE_THE_OWNER: Final = """
SELECT true, rolsuper OR pg_has_role(rolname, current_user, 'MEMBER') FROM pg_roles WHERE rolname = %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationRights:
    """What the role of the application may do. `revoke` is a statement that revokes a right that it does not need."""

    is_superuser: bool
    is_owner: bool
    revoke: str | None

    @property
    def may_change_tables(self) -> bool:
        """Whether it may change tables and triggers."""
        return self.is_superuser or self.is_owner

    @property
    def sentence(self) -> str:
        """What it may do, and what to change."""
        who = "to the database as a superuser" if self.is_superuser else "as the owner of the tables"
        if self.may_change_tables:
            return f"The server connects {who}, who {_PROTECTED}. {_SEPARATE}"
        if self.revoke:
            return (
                f"The server may do more in the database than it needs: have a superuser run `{self.revoke}`."
            )
        return "The server reads and writes rows, and cannot change tables or triggers."


_PROTECTED: Final = "can disable the triggers that protect what was recorded"
_SEPARATE: Final = "Separate them: see “Which roles does the database need?” in docs/operating.md."


def owner_alias() -> str:
    """Return the alias of the connection that may change tables and indexes."""
    return _OWNER if has_owner_connection() else DEFAULT_DB_ALIAS


def has_owner_connection() -> bool:
    """Return whether this program also connects as the owner of the tables."""
    return _OWNER in settings.DATABASES


def application_rights() -> ApplicationRights:
    """Return what the role with which this program reads and writes may do."""
    with connection.cursor() as cursor:

        def query(statement: str) -> list[tuple[Any, ...]]:
            cursor.execute(statement)
            return list(cursor.fetchall())

        return rights_from(query)


def rights_from(query: Query) -> ApplicationRights:
    """Return what the role may do that runs these queries."""
    is_superuser, is_owner, revoke = query(_RIGHTS)[0]
    has_all = is_superuser or is_owner
    return ApplicationRights(is_superuser=is_superuser, is_owner=is_owner, revoke=None if has_all else revoke)


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
