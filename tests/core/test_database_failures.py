"""Each cause of a failing database has its own code; what is wrong with a statement itself has none."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import InternalError, OperationalError, connection
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from timemachine.config import pool
from timemachine.core.accounts.models import Project
from timemachine.core.connecting import PooledConnection
from timemachine.core.database import failure_of, snapshot
from timemachine.core.pure.database_failures import failure_from


@pytest.mark.parametrize(
    ("sqlstate", "code"),
    [
        ("08006", "database_away"),
        ("25006", "database_read_only"),
        ("25P03", "database_timeout"),
        ("28P01", "database_refused"),
        ("3D000", "database_refused"),
        ("40001", "database_locked"),
        ("40P01", "database_locked"),
        ("53100", "database_disk_full"),
        ("53200", "database_out_of_memory"),
        ("53300", "database_connections_used_up"),
        ("53400", "database_limit_reached"),
        ("55P03", "database_locked"),
        ("57014", "database_timeout"),
        ("57P01", "database_restarting"),
        ("57P02", "database_restarting"),
        ("57P03", "database_restarting"),
        ("58030", "database_storage_failed"),
        ("XX001", "database_storage_failed"),
    ],
)
def test_a_sqlstate_names_the_cause(sqlstate: str, code: str) -> None:
    failure = failure_from(sqlstate, "what it says\nDETAIL: a row")
    assert failure is not None
    assert (failure.code, failure.details) == (code, "what it says")


@pytest.mark.parametrize("sqlstate", ["22012", "23505", "42P01", "54000", "55000", "XX000"])
def test_a_wrong_statement_is_no_failure_of_the_database(sqlstate: str) -> None:
    assert failure_from(sqlstate, "division by zero") is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("FATAL:  sorry, too many clients already", "database_connections_used_up"),
        ("FATAL:  remaining connection slots are reserved for roles", "database_connections_used_up"),
        ("FATAL:  the database system is starting up", "database_restarting"),
        ("FATAL:  the database system is not yet accepting connections", "database_restarting"),
        ('FATAL:  password authentication failed for user "tm"', "database_refused"),
        ('FATAL:  database "tm" does not exist', "database_refused"),
        ("FATAL:  could not write init file: No space left on device", "database_disk_full"),
        ("connection to password:5432 failed: Connection refused", "database_away"),
        ("consuming input failed: server closed the connection unexpectedly", "database_away"),
    ],
)
def test_without_a_sqlstate_the_text_names_the_cause(text: str, code: str) -> None:
    failure = failure_from(None, text)
    assert failure is not None
    assert failure.code == code


def test_the_refusal_says_when_to_send_the_request_again() -> None:
    failure = failure_from("53100", "could not extend file")
    assert failure is not None
    assert failure.refusal().as_json() == {
        "code": "database_disk_full",
        "message": "The disk of the database is full, so nothing can be saved. Its operator has to free some space. "
        "Send the request again.",
        "facts": {"retry_after_seconds": 30},
    }


def test_a_full_disk_of_the_server_is_not_that_of_the_database() -> None:
    failure = failure_of(OSError(errno.ENOSPC, "No space left on device"))
    assert failure is not None
    assert failure.code == "disk_full"
    assert failure_of(OSError(errno.ENOENT, "No such file")) is None
    assert failure_of(ValueError("no")) is None


@pytest.mark.django_db
def test_what_the_database_raises_has_its_cause() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 10")
        with pytest.raises(OperationalError) as stopped:
            cursor.execute("SELECT pg_sleep(10)")
    failure = failure_of(stopped.value)
    assert failure is not None
    assert failure.code == "database_timeout"
    assert failure.details == "canceling statement due to statement timeout"


@pytest.mark.django_db(transaction=True)
def test_a_read_only_database_is_told_from_a_written_snapshot() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        with pytest.raises(InternalError) as refused:
            Project.objects.create(name="Prüfung")
    finally:
        connection.close()
    failure = failure_of(refused.value)
    assert failure is not None
    assert failure.code == "database_read_only"
    with pytest.raises(RuntimeError, match="snapshot"), snapshot():
        Project.objects.create(name="Prüfung")


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Forget afterwards why connecting failed."""
    yield
    PooledConnection.last_failure = None


@contextmanager
def small_pool(conninfo: str) -> Iterator[ConnectionPool]:
    """A pool of one connection as the web server has it, which waits only briefly."""
    options: dict[str, Any] = pool.options(1) | {"timeout": 0.5}
    with ConnectionPool(conninfo, kwargs={"autocommit": True}, open=True, **options) as made:
        yield made


def code_without_a_connection(pool: ConnectionPool) -> str:
    with pytest.raises(psycopg.OperationalError) as waited, pool.connection():
        pass
    failure = failure_of(waited.value)
    assert failure is not None
    return failure.code


@pytest.mark.django_db
def test_a_pool_says_why_it_has_no_connection(forgotten: None, tmp_path: Path) -> None:
    connection.ensure_connection()
    dsn = make_conninfo(connection.connection.info.dsn, password=connection.settings_dict["PASSWORD"] or None)
    with small_pool(dsn) as used, used.connection():
        assert code_without_a_connection(used) == "database_connections_used_up"
    with small_pool(make_conninfo(dsn, dbname="nope")) as misled:
        assert code_without_a_connection(misled) == "database_refused"
    with small_pool(f"host={tmp_path}") as away:
        assert code_without_a_connection(away) == "database_away"
