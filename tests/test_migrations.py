"""A new installation makes its schema at once, and one that grew with every release has the very same.

All migrations that were ever made are applied once here, a quarter of a minute of work, as an installation does that came to a release
in the middle of them and goes on with the one of today.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from django.db.migrations.loader import MigrationLoader
from psycopg.sql import SQL, Identifier

from timemachine.embedded import postgres

ROOT = Path(__file__).resolve().parent.parent
ONCE = "0001_squashed_0074_sketches_made"
IN_THE_MIDDLE = "0040_opinion_unknown_cost"
TO_GO_BACK_TO = "0072_no_second_indexes"
THE_LAST_OF_THE_OLD = "0074_sketches_made"
MIGRATING = """
import sys, django
django.setup()
from django.core.management import call_command
for each in sys.argv[1:]:
    call_command("migrate", *each.split(), interactive=False, no_color=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """An installation's, with what was told when it was made."""

    url: str
    told: str

    def migrate(self, *targets: str) -> str:
        """What `manage.py migrate` says, once for each of these; an empty one is the newest."""
        return _migrate(self.url, *targets)

    def schema(self) -> list[str]:
        """All that Postgres knows of the tables, the functions and the rest, column by column."""
        return _dump(self.url, "--schema-only")

    def data(self) -> list[str]:
        """Every row, but of the list of migrations, which tells when each was applied."""
        return _dump(self.url, "--data-only", "--inserts", "--exclude-table=django_migrations*")

    def applied(self) -> set[str]:
        """The migrations that are recorded as applied."""
        with psycopg.connect(self.url) as asking:
            return {
                name
                for (name,) in asking.execute("SELECT name FROM django_migrations WHERE app = 'timemachine'")
            }


@pytest.fixture(scope="module")
def new() -> Iterator[Database]:
    yield from _made("")


@pytest.fixture(scope="module")
def grown() -> Iterator[Database]:
    yield from _made(f"timemachine {IN_THE_MIDDLE}", "")


def test_an_installation_that_grew_has_the_schema_that_a_new_one_makes_at_once(
    new: Database, grown: Database
) -> None:
    assert grown.schema() == new.schema()


def test_an_installation_that_grew_has_the_rows_that_a_new_one_begins_with(
    new: Database, grown: Database
) -> None:
    assert grown.data() == new.data()


def test_an_installation_in_the_middle_goes_on_with_the_old_migrations_and_is_recorded_like_a_new_one(
    new: Database, grown: Database
) -> None:
    assert f"Applying timemachine.{ONCE}" not in grown.told
    assert f"Applying timemachine.{THE_LAST_OF_THE_OLD}" in grown.told
    assert f"Applying timemachine.{ONCE}" in new.told
    assert f"Applying timemachine.{THE_LAST_OF_THE_OLD}" not in new.told
    assert grown.applied() == new.applied() > {ONCE, IN_THE_MIDDLE, THE_LAST_OF_THE_OLD}


@pytest.mark.parametrize("made", ["new", "grown"])
def test_both_have_nothing_left_to_do_and_can_go_back_one_by_one_and_on_again(
    made: str, request: pytest.FixtureRequest
) -> None:
    database: Database = request.getfixturevalue(made)
    before, applied = database.schema(), database.applied()
    told = database.migrate("", f"timemachine {TO_GO_BACK_TO}", "")
    assert "No migrations to apply." in told
    for each in (THE_LAST_OF_THE_OLD, "0075_counted_words"):
        assert f"Unapplying timemachine.{each}... OK" in told
        assert f" Applying timemachine.{each}... OK" in told
    assert (database.schema(), database.applied()) == (before, applied)


def test_no_migration_depends_on_the_one_that_makes_all_at_once_so_that_later_ones_go_back_first() -> None:
    # without replacements, which is how Django goes back to one of the old, it is a leaf beside them
    graph = MigrationLoader(None, replace_migrations=False).graph
    assert graph.node_map["timemachine", ONCE].children == set()


def _made(*targets: str) -> Iterator[Database]:
    server, name = os.environ["DATABASE_URL"], f"migrated_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as asking:
        asking.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        try:
            url = urlsplit(server)._replace(path=f"/{name}").geturl()
            yield Database(url=url, told=_migrate(url, *targets))
        finally:
            asking.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def _migrate(url: str, *targets: str) -> str:
    # coverage would only slow it down: migrations are left out of what is measured
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return _said([sys.executable, "-c", MIGRATING, *targets], unmeasured | {"DATABASE_URL": url})


def _dump(url: str, *options: str) -> list[str]:
    dumped = _said([str(postgres.binaries() / "pg_dump"), *options, url], dict(os.environ))
    # a dump is fenced in by a word drawn by chance
    return [line for line in dumped.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]


def _said(command: list[str], environment: dict[str, str]) -> str:
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
