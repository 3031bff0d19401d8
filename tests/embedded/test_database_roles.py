"""The product on its own server: what its role in the database cannot do, old data folders, and triggers that do not fire."""

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from tests.embedded.conftest import Start
from tests.embedded.homes import copied
from tests.embedded.machine import PATIENCE, Machine
from tests.waiting import wait_until
from timemachine.core.pure.home import RunningServer

REFUSED = (
    "ALTER TABLE tm_action DISABLE TRIGGER append_only",
    "SET session_replication_role = replica",
    "ALTER ROLE timemachine_app SET session_replication_role = replica",
    "SET ROLE postgres",
    "DROP TABLE tm_note",
    "ALTER TABLE tm_note ADD COLUMN extra text",
    "TRUNCATE tm_note",
    "CREATE TABLE tm_extra ()",
    "CREATE TEMPORARY TABLE tm_held_session ()",
    "CREATE FUNCTION public.extra() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE TRIGGER extra BEFORE INSERT ON tm_note FOR EACH ROW EXECUTE FUNCTION tm_refuse_always()",
    "CREATE OR REPLACE FUNCTION tm_refuse_always() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "DELETE FROM tm_audit_event",
    "UPDATE tm_log_entry SET id = id",
    "DELETE FROM tm_log_entry",
    "UPDATE tm_sealed_results SET id = id",
    "DELETE FROM django_migrations",
    "SELECT tm_drop_nearest_index('tm_session_trigrams')",
    "ALTER TABLE tm_action DISABLE ROW LEVEL SECURITY",
    "DROP POLICY one_project ON tm_action",
    "ALTER ROLE timemachine_app BYPASSRLS",
    "SET row_security = off; SELECT FROM tm_action",
    "INSERT INTO tm_project (id, name, needs_second_factor) VALUES (gen_random_uuid(), 'Another', false)",
    "COPY tm_action TO PROGRAM 'cat'",
)


@pytest.fixture
def home(used_home: Path, tmp_path: Path) -> Path:
    return copied(used_home, tmp_path / "home")


@pytest.fixture(scope="module")
def machine(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    running = Machine(copied(used_home, tmp_path_factory.mktemp("roles") / "home")).ready()
    yield running
    running.end()


def noted(machine: Machine) -> RunningServer:
    return RunningServer(**json.loads((machine.home / "server.json").read_text()))


def owner(machine: Machine) -> psycopg.Connection:
    return psycopg.connect(noted(machine).database_owner_url, autocommit=True)


def connected(superuser: psycopg.Connection) -> set[str]:
    """Return the roles of all other connections to the database."""
    rows = superuser.execute(
        "SELECT usename FROM pg_stat_activity WHERE datname = 'timemachine' AND pid <> pg_backend_pid()"
    )
    return {name for (name,) in rows}


def checks(machine: Machine) -> dict[str, dict[str, str]]:
    with urllib.request.urlopen(f"http://127.0.0.1:{machine.port}/health/ready", timeout=10) as answer:
        found: dict[str, dict[str, str]] = json.load(answer)["checks"]
        return found


def test_the_server_uses_a_role_that_cannot_get_around_a_trigger(machine: Machine) -> None:
    with psycopg.connect(noted(machine).database_url, autocommit=True) as application:
        for statement in REFUSED:
            with pytest.raises(InsufficientPrivilege):
                application.execute(statement)
        application.execute("SET row_security = on")
        assert application.execute("SELECT count(*) FROM tm_project").fetchone() == (0,)
        application.execute("SET timemachine.project = '01a2163e-6b1c-7d0a-9e52-0c4f1c6c1a55'")
        assert application.execute("SELECT count(*) FROM tm_project").fetchone() == (0,)
        assert application.execute("UPDATE tm_project SET name = 'changed'").rowcount == 0
    assert machine.page("/sign-in/") == 200
    with owner(machine) as superuser:
        wait_until(lambda: connected(superuser) == {"timemachine_app"})
    assert checks(machine)["role"]["message"] == (
        "The server reads and writes rows, and cannot change tables or triggers."
    )


def test_no_audit_event_can_be_changed(machine: Machine) -> None:
    with psycopg.connect(noted(machine).database_url, autocommit=True) as application:
        application.execute("SET timemachine.project = '*'")
        project = application.execute("SELECT id FROM tm_project").fetchone()
        assert project
        application.execute(
            "INSERT INTO tm_audit_event (project_id, action, actor, target_type, target_id) VALUES (%s, 'a', 'b', '', '')",
            project,
        )
        with pytest.raises(psycopg.errors.RestrictViolation):
            application.execute("UPDATE tm_audit_event SET actor = 'somebody else'")


def test_the_worker_builds_indexes_as_the_owner_of_the_tables(home: Path, start: Start) -> None:
    machine = start(home, APPROXIMATE_SEARCH_FROM="2", SWEEP_SECONDS="1").ready()
    key = (home / "local-key").read_text().strip()
    api = f"http://127.0.0.1:{machine.port}/api"
    with httpx.Client(headers={"Authorization": f"Bearer {key}"}, timeout=30) as client:
        for text in ("Cats sleep.", "Dogs bark.", "Cows moo."):
            client.post(f"{api}/collections/facts/put", json={"text": text}).raise_for_status()
        with owner(machine) as superuser:
            wait_until(lambda: indexes(superuser))
            assert indexes(superuser) == {"postgres"}


def indexes(superuser: psycopg.Connection) -> set[str]:
    """Return the owners of the valid indexes of collections."""
    rows = superuser.execute(
        "SELECT relowner::regrole::text FROM pg_class JOIN pg_index ON indexrelid = oid"
        " WHERE relname LIKE 'tm\\_nearest\\_%' AND indisvalid"
    )
    return {name for (name,) in rows}


def test_a_data_folder_without_roles_is_upgraded_at_the_next_start(home: Path, start: Start) -> None:
    before = start(home).ready()
    with owner(before) as superuser:
        superuser.execute("GRANT TEMPORARY ON DATABASE timemachine TO PUBLIC")
        superuser.execute("DROP OWNED BY timemachine_app")
        superuser.execute("DROP ROLE timemachine_app")
    before.end()
    (home / "prepared").unlink()

    machine = start(home).ready()
    assert machine.page("/sign-in/") == 200
    with psycopg.connect(noted(machine).database_url, autocommit=True) as application:
        application.execute("SET timemachine.project = '*'")
        assert application.execute("SELECT count(*) FROM tm_project").fetchone() == (1,)
        with pytest.raises(InsufficientPrivilege):
            application.execute("CREATE TEMPORARY TABLE tm_held_session ()")


def test_a_replica_setting_of_everyone_is_reported(machine: Machine) -> None:
    with owner(machine) as superuser:
        superuser.execute("ALTER ROLE ALL SET session_replication_role = replica")
        message = checks(machine)["triggers"]["message"]
        superuser.execute("ALTER ROLE ALL RESET session_replication_role")
    assert "run `ALTER ROLE ALL RESET session_replication_role` as a superuser" in message


def test_a_disabled_trigger_is_reported_and_prevents_the_next_start(home: Path, start: Start) -> None:
    running = start(home).ready()
    assert checks(running)["triggers"]["ok"]
    with owner(running) as superuser:
        superuser.execute("ALTER TABLE tm_log_entry DISABLE TRIGGER append_only")
    found = checks(running)["triggers"]
    assert not found["ok"]
    assert "The trigger append_only of tm_log_entry is disabled" in found["message"]
    running.end()

    refused = start(home)
    assert refused.process.wait(PATIENCE) == 1
    assert re.search(
        r"The trigger append_only of tm_log_entry is disabled, so .*: run "
        "`ALTER TABLE tm_log_entry ENABLE TRIGGER append_only` as the owner of the table",
        refused.output,
    )
    assert "Traceback" not in refused.output
