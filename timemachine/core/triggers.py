"""Whether the triggers that protect and count what is recorded exist and fire."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import timemachine
from timemachine.core.pure.triggers import Trigger, TriggerFacts, trigger_problem, triggers_in

_PACKAGE: Final = Path(timemachine.__path__[0])
_PRESENT: Final = """
SELECT t.tgrelid::regclass::text, t.tgname::text, t.tgfoid::regproc::text, t.tgenabled::text
FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relname LIKE 'tm\\_%' AND pg_table_is_visible(c.oid)
"""
_REPLICA: Final = """
SELECT 'run `ALTER ' || CASE
        WHEN setrole = 0 THEN format('DATABASE %I', current_database())
        WHEN setdatabase = 0 THEN format('ROLE %s', setrole::regrole)
        ELSE format('ROLE %s IN DATABASE %I', setrole::regrole, current_database())
    END || ' RESET session_replication_role` as a superuser'
FROM pg_db_role_setting, unnest(setconfig) AS each
WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
AND each ILIKE 'session\\_replication\\_role=replica'
UNION ALL
SELECT 'remove it from the configuration of the server, or from DATABASE_URL'
WHERE current_setting('session_replication_role') = 'replica'
"""
_APPLIED: Final = "SELECT name FROM django_migrations WHERE app = 'timemachine'"

type Query = Callable[[str], list[tuple[Any, ...]]]
"""Runs a statement and returns its rows."""


@cache
def expected_triggers() -> list[Trigger]:
    """Return the triggers that the SQL files create."""
    files = sorted((_PACKAGE / "sql").glob("*.sql"))
    return triggers_in({path.name: path.read_text(encoding="utf-8") for path in files})


def problem_with_triggers(query: Query) -> str | None:
    """Return what is wrong and what to do, or None. The database must have all migrations."""
    replica = query(_REPLICA)
    present = {(table, name): (function, enabled) for table, name, function, enabled in query(_PRESENT)}
    facts = TriggerFacts(present=present, replica=replica[0][0] if replica else None)
    return trigger_problem(expected_triggers(), facts)


def has_every_trigger(query: Query) -> bool:
    """Return whether all migrations, which create the triggers, were applied; without loading them, which takes a while."""
    if query("SELECT to_regclass('django_migrations') IS NULL")[0][0]:
        return False
    written = {path.stem for path in (_PACKAGE / "migrations").glob("[0-9]*.py")}
    return written <= {name for (name,) in query(_APPLIED)}
