"""Whether the triggers that protect and count what is recorded are those that Time Machine created, and fire."""

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import timemachine
from timemachine.core.pure.migration_files import own_migrations
from timemachine.core.pure.triggers import (
    PresentFunction,
    PresentTrigger,
    Schema,
    TriggerFacts,
    schema_in,
    trigger_problem,
)

_SQL: Final = Path(timemachine.__path__[0]) / "sql"
_TRIGGERS: Final = """
SELECT t.tgrelid::regclass::text, t.tgname::text, t.tgfoid::regproc::text, t.tgenabled::text, pg_get_triggerdef(t.oid, true)
FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relname LIKE 'tm\\_%' AND pg_table_is_visible(c.oid)
"""
_FUNCTIONS: Final = """
SELECT proname::text, prosrc, coalesce(proconfig, '{}') FROM pg_proc
WHERE proname LIKE 'tm\\_%' AND pronamespace = 'public'::regnamespace
"""
_REPLICA: Final = """
WITH ours AS (
    SELECT relowner AS role FROM pg_class WHERE oid = 'tm_action'::regclass
    UNION SELECT grantee FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = 'tm_action'::regclass
    UNION SELECT oid FROM pg_roles WHERE rolname = current_user
)
SELECT 'run `ALTER ' || CASE
        WHEN setrole = 0 AND setdatabase = 0 THEN 'ROLE ALL'
        WHEN setrole = 0 THEN format('DATABASE %I', current_database())
        WHEN setdatabase = 0 THEN format('ROLE %s', setrole::regrole)
        ELSE format('ROLE %s IN DATABASE %I', setrole::regrole, current_database())
    END || ' RESET session_replication_role` as a superuser'
FROM pg_db_role_setting, unnest(setconfig) AS each
WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
AND (setrole = 0 OR setrole IN (SELECT role FROM ours))
AND each ILIKE 'session\\_replication\\_role=replica'
UNION ALL
SELECT 'remove it from the configuration of the server, or from DATABASE_URL'
WHERE current_setting('session_replication_role') = 'replica'
"""
_APPLIED: Final = "SELECT name FROM django_migrations WHERE app = 'timemachine'"

type Query = Callable[[str], list[tuple[Any, ...]]]
"""Runs a statement and returns its rows."""


@cache
def expected_schema() -> Schema:
    """Return the triggers and functions that the SQL files create."""
    return schema_in({path.name: path.read_text(encoding="utf-8") for path in sorted(_SQL.glob("*.sql"))})


def problem_with_triggers(query: Query) -> str | None:
    """Return what is wrong and what to do, or None. The database must have all migrations."""
    replica = query(_REPLICA)
    functions = defaultdict(list)
    for name, body, settings in query(_FUNCTIONS):
        functions[name].append(PresentFunction(body=body, settings=settings))
    facts = TriggerFacts(
        triggers={
            (table, name): PresentTrigger(function=function, enabled=enabled, definition=definition)
            for table, name, function, enabled, definition in query(_TRIGGERS)
        },
        functions=functions,
        replica=replica[0][0] if replica else None,
        is_newer=not _applied(query) <= own_migrations(),
    )
    return trigger_problem(expected_schema(), facts)


def has_every_trigger(query: Query) -> bool:
    """Return whether all migrations, which create the triggers, were applied."""
    if query("SELECT to_regclass('django_migrations') IS NULL")[0][0]:
        return False
    return own_migrations() <= _applied(query)


def _applied(query: Query) -> set[str]:
    return {name for (name,) in query(_APPLIED)}
