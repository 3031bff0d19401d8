"""What a program is told when the database cannot do what a request needs: the true cause, and to send it again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import pytest
from django.test import Client

from tests.api.conftest import Program
from tests.database_roles import as_owner
from tests.small_disks import small_disk
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session

SESSION = {"name": "Refund", "key": "refund-1"}
CAUSES = {
    "53100": ("database_disk_full", "The disk of the database is full"),
    "53200": ("database_out_of_memory", "The database is out of memory."),
    "53300": ("database_connections_used_up", "All connections to the database are in use."),
    "55P03": ("database_locked", "The same data is being changed by others"),
    "57014": ("database_timeout", "The database stopped this because it took too long."),
    "57P01": ("database_restarting", "The database is stopping or starting."),
    "58030": ("database_storage_failed", "The database cannot read or write its files."),
}


@contextmanager
def refusing_sessions(sqlstate: str) -> Iterator[None]:
    """Have the database refuse every new session, and name a row as it does so."""
    with as_owner() as cursor:
        cursor.execute(
            "CREATE OR REPLACE FUNCTION refuse_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"RAISE EXCEPTION 'no more of this' USING ERRCODE = '{sqlstate}', DETAIL = 'a row: ' || NEW.name; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER refuse_session BEFORE INSERT ON tm_session FOR EACH ROW EXECUTE FUNCTION refuse_session()"
        )
    yield
    with as_owner() as cursor:
        cursor.execute("DROP TRIGGER refuse_session ON tm_session")


@pytest.mark.parametrize("sqlstate", CAUSES)
def test_the_answer_and_the_log_name_the_cause(
    api: Program, sqlstate: str, caplog: pytest.LogCaptureFixture
) -> None:
    code, cause = CAUSES[sqlstate]
    with refusing_sessions(sqlstate):
        answer = api.post("/sessions", SESSION)
    assert (answer.status_code, answer.json()["code"]) == (503, code)
    assert answer.json()["message"].startswith(cause)
    assert answer.json()["message"].endswith("Send the request again.")
    assert int(answer["Retry-After"]) > 0
    assert f"POST /api/sessions failed ({code}): no more of this" in caplog.text
    assert SESSION["name"] not in caplog.text
    assert api.post("/sessions", SESSION).status_code == 201


def test_another_error_of_the_database_is_an_internal_error(api: Program) -> None:
    with refusing_sessions("22012"):
        answer = api.post("/sessions", SESSION)
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")


def test_an_exporter_is_told_the_same(api: Program) -> None:
    span = {
        "traceId": "a" * 32,
        "spanId": "b" * 16,
        "name": "call",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
    }
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    with refusing_sessions("53100"):
        answer = Client().post(
            "/v1/traces",
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {api.key}"},
        )
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert "The disk of the database is full" in answer.text


@pytest.fixture
def full_disk(transactional_db: None, tmp_path: Path) -> Iterator[None]:
    """Have the recorded actions on a disk of 1 MB."""
    name = f"small_{token_hex(4)}"
    with as_owner() as cursor:
        cursor.execute("SHOW data_directory")
        owner = Path(cursor.fetchone()[0]).stat()
    with small_disk(tmp_path / "disk", owner=owner) as folder:
        with as_owner() as cursor:
            cursor.execute("VACUUM FULL tm_action")  # deleted rows of earlier tests may take more than 1 MB
            cursor.execute(f"CREATE TABLESPACE {name} LOCATION '{folder}'")
            cursor.execute(f"ALTER TABLE tm_action SET TABLESPACE {name}")
        yield
        with as_owner() as cursor:
            cursor.execute("ALTER TABLE tm_action SET TABLESPACE pg_default")
            cursor.execute(f"DROP TABLESPACE {name}")


def test_a_full_disk_stops_recording_and_not_reading(full_disk: None, project: Project, api: Program) -> None:
    api.post("/sessions", SESSION)
    answers = []
    for each in range(200):
        actions = {"actions": [{"id": f"{each}-{one}", "kind": "event"} for one in range(200)]}
        answers.append(api.post("/sessions/refund-1/actions", actions))
        if answers[-1].status_code != 201:
            break
    refused = answers.pop()
    assert (refused.status_code, refused.json()["code"]) == (503, "database_disk_full")
    assert api.get("/sessions/refund-1").json()["actions"] == 200 * len(answers)
    assert api.get("/sessions/refund-1/actions", limit=5).status_code == 200
    assert Session.objects.get(key="refund-1").last_sequence == 200 * len(answers)
