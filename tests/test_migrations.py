"""A new database has exactly the tables, functions and triggers that the code needs."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

import timemachine
from timemachine.core.triggers import expected_schema

pytestmark = pytest.mark.django_db
SQL = "\n".join(path.read_text() for path in sorted((Path(timemachine.__path__[0]) / "sql").glob("*.sql")))


def rows(query: str) -> set[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return {(first, second) for first, second in cursor.fetchall()}


def test_every_migration_is_applied_to_a_new_database() -> None:
    applied = {key for key in MigrationRecorder(connection).applied_migrations() if key[0] == "timemachine"}
    assert applied == {key for key in MigrationLoader(None).disk_migrations if key[0] == "timemachine"}


def test_the_tables_have_the_columns_of_the_models() -> None:
    columns = defaultdict(set)
    for table, column in rows(
        "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_name LIKE 'tm\\_%'"
    ):
        columns[table].add(column)
    assert columns == {
        model._meta.db_table: {field.column for field in model._meta.local_concrete_fields if field.column}
        for model in apps.get_app_config("timemachine").get_models()
    }


def test_the_functions_are_those_of_the_sql_files() -> None:
    written = set(re.findall(r"^CREATE FUNCTION (?:public\.)?(\w+)\(", SQL, re.MULTILINE))
    made = rows("SELECT proname::text, '' FROM pg_proc WHERE proname LIKE 'tm\\_%'")
    assert {name for name, _ in made} == written


def test_every_function_that_a_trigger_calls_is_compared() -> None:
    names = [each.name for each in expected_schema().functions]
    assert len(names) == len(set(names))
    assert {each.function for each in expected_schema().triggers} <= set(names)


def test_the_triggers_are_those_of_the_sql_files() -> None:
    assert SQL.count("CREATE TRIGGER ") == len(expected_schema().triggers)
    assert {(each.name, each.table) for each in expected_schema().triggers} == rows(
        "SELECT tgname::text, tgrelid::regclass::text FROM pg_trigger"
        " WHERE NOT tgisinternal AND tgrelid::regclass::text LIKE 'tm\\_%'"
    )
