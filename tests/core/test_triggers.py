"""Triggers that are missing, disabled or replaced: one sentence with the name and what to do."""

import re
from pathlib import Path
from secrets import token_hex

import pytest
from django.db import connection
from django.test import Client

import timemachine
from tests.database_roles import as_owner
from timemachine.core.pure.database_requirements import Unsuitable
from timemachine.core.requirements import check_database

pytestmark = pytest.mark.django_db(transaction=True)


def statement_of(file: str, function: str) -> str:
    """Return the statement in an SQL file that creates a function."""
    text = (Path(timemachine.__path__[0]) / "sql" / file).read_text()
    start = text.index(f"CREATE FUNCTION {function}(")
    return "CREATE OR REPLACE" + text[start : text.index("$$;", start) + 3].removeprefix("CREATE")


CHANGES = [
    (
        "ALTER TABLE tm_sealed_results DISABLE TRIGGER no_truncate",
        "ALTER TABLE tm_sealed_results ENABLE TRIGGER no_truncate",
        "The trigger no_truncate of tm_sealed_results is disabled, so the database does not protect what was recorded: "
        "run `ALTER TABLE tm_sealed_results ENABLE TRIGGER no_truncate` as the owner of the table, and find out who changed it.",
    ),
    (
        "ALTER TABLE tm_sealed_results ENABLE REPLICA TRIGGER append_only",
        "ALTER TABLE tm_sealed_results ENABLE TRIGGER append_only",
        "The trigger append_only of tm_sealed_results fires only in replicas, so the database does not protect",
    ),
    (
        "ALTER TABLE tm_sealed_results DISABLE TRIGGER USER",
        "ALTER TABLE tm_sealed_results ENABLE TRIGGER USER",
        "The trigger append_only of tm_sealed_results (and 1 more) is disabled, so the database does not protect",
    ),
    (
        "DROP TRIGGER append_only ON tm_sealed_results",
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_sealed_results"
        " FOR EACH ROW EXECUTE FUNCTION tm_refuse_change()",
        "The trigger append_only of tm_sealed_results is missing, so the database does not protect what was recorded: "
        "create it as in timemachine/sql/evidence.sql, and find out who changed it.",
    ),
    (
        "CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_sealed_results"
        " FOR EACH ROW EXECUTE FUNCTION tm_delete_file_parts()",
        "CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_sealed_results"
        " FOR EACH ROW EXECUTE FUNCTION tm_refuse_change()",
        "The trigger append_only of tm_sealed_results calls tm_delete_file_parts, so the database does not protect",
    ),
    (
        "CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_sealed_results"
        " FOR EACH ROW WHEN (false) EXECUTE FUNCTION tm_refuse_change()",
        "CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_sealed_results"
        " FOR EACH ROW EXECUTE FUNCTION tm_refuse_change()",
        "The trigger append_only of tm_sealed_results is not the one that Time Machine created, so the database does not "
        "protect what was recorded: create it as in timemachine/sql/evidence.sql, and find out who changed it.",
    ),
    (
        "CREATE OR REPLACE TRIGGER append_only BEFORE DELETE ON tm_sealed_results"
        " FOR EACH ROW EXECUTE FUNCTION tm_refuse_change()",
        "CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_sealed_results"
        " FOR EACH ROW EXECUTE FUNCTION tm_refuse_change()",
        "The trigger append_only of tm_sealed_results is not the one that Time Machine created",
    ),
    (
        "CREATE OR REPLACE FUNCTION tm_refuse_always() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        statement_of("append_only.sql", "tm_refuse_always"),
        "The function tm_refuse_always is not the one that Time Machine created, so the database does not protect what was "
        "recorded: create it as in timemachine/sql/append_only.sql, and find out who changed it.",
    ),
    (
        "ALTER FUNCTION tm_refuse_change() SET timemachine.erasing = 'on'",
        "ALTER FUNCTION tm_refuse_change() RESET timemachine.erasing",
        "The function tm_refuse_change is not the one that Time Machine created",
    ),
]


def problem() -> str:
    with pytest.raises(Unsuitable) as refused:
        check_database()
    assert reported() == (False, refused.value.message)
    return refused.value.message


def reported() -> tuple[bool, str]:
    """Return what the health check says, which stays 200."""
    answer = Client().get("/health/ready")
    assert answer.status_code == 200
    check = answer.json()["checks"]["triggers"]
    return check["ok"], check["message"]


@pytest.mark.parametrize(("change", "repair", "sentence"), CHANGES)
def test_a_trigger_that_does_not_fire_is_named_with_what_to_do(
    change: str, repair: str, sentence: str
) -> None:
    with as_owner() as cursor:
        cursor.execute(change)
    try:
        assert problem().startswith(sentence)
    finally:
        with as_owner() as cursor:
            cursor.execute(repair)
    check_database()
    assert reported() == (True, "The triggers that protect what was recorded fire.")


def test_an_always_enabled_trigger_fires(db: None) -> None:
    with as_owner() as cursor:
        cursor.execute("ALTER TABLE tm_sealed_results ENABLE ALWAYS TRIGGER append_only")
    check_database()
    with as_owner() as cursor:
        cursor.execute("ALTER TABLE tm_sealed_results ENABLE TRIGGER append_only")


@pytest.mark.parametrize("whose", ["DATABASE {database}", "ROLE timemachine_app IN DATABASE {database}"])
def test_a_replica_setting_of_a_role_or_database_is_named(whose: str) -> None:
    subject = whose.format(database=connection.settings_dict["NAME"])
    with as_owner() as cursor:
        cursor.execute(f"ALTER {subject} SET session_replication_role = replica")
    try:
        assert re.fullmatch(
            r"No trigger of the database fires, because `session_replication_role` is `replica`, so recorded data can be "
            rf"changed: run `ALTER {subject} RESET session_replication_role` as a superuser\.",
            problem(),
        )
    finally:
        with as_owner() as cursor:
            cursor.execute(f"ALTER {subject} RESET session_replication_role")
    check_database()


def test_a_replica_setting_of_another_role_does_not_matter() -> None:
    role = f"replicator_{token_hex(4)}"
    with as_owner() as cursor:
        cursor.execute(f"CREATE ROLE {role} SUPERUSER")
        cursor.execute(f"ALTER ROLE {role} SET session_replication_role = replica")
        try:
            check_database()
        finally:
            cursor.execute(f"DROP ROLE {role}")


def test_another_definition_is_allowed_after_a_newer_version_has_migrated(db: None) -> None:
    change, repair, _ = CHANGES[-2]
    with as_owner() as cursor:
        cursor.execute(change)
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('timemachine', '9999_newer', now())"
        )
    try:
        check_database()
    finally:
        with as_owner() as cursor:
            cursor.execute(repair)
            cursor.execute("DELETE FROM django_migrations WHERE name = '9999_newer'")
    check_database()


def test_a_database_that_lacks_migrations_is_not_checked(db: None) -> None:
    with as_owner() as cursor:
        cursor.execute("ALTER TABLE tm_sealed_results DISABLE TRIGGER no_truncate")
        cursor.execute("UPDATE django_migrations SET name = 'x' WHERE name = '0010_provider_identity_once'")
    try:
        check_database()
    finally:
        with as_owner() as cursor:
            cursor.execute("ALTER TABLE tm_sealed_results ENABLE TRIGGER no_truncate")
            cursor.execute(
                "UPDATE django_migrations SET name = '0010_provider_identity_once' WHERE name = 'x'"
            )
