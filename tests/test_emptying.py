"""Tables are emptied between two tests, even while a request from the first is still running."""

import threading

import pytest
from django.core.management.color import no_style
from django.db import connection, transaction

from tests.database_roles import as_owner
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project

TABLES = ["tm_collection", "tm_project"]
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'tm_project'::regclass"


def waiting() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_a_running_request_is_finished_before_tables_are_emptied() -> None:
    Project.objects.create(name="left behind")
    locked, finished = threading.Event(), threading.Event()

    def request() -> None:
        try:
            with as_owner() as cursor, transaction.atomic():
                cursor.execute("SET LOCAL deadlock_timeout = '20s'")  # the other one gets the deadlock error
                cursor.execute("SELECT FROM tm_project FOR UPDATE")
                locked.set()
                wait_until(waiting, 20)
                cursor.execute("SELECT FROM tm_collection")
            finished.set()
        finally:
            connection.close()

    thread = threading.Thread(target=request)
    thread.start()
    assert locked.wait(20)
    (emptying,) = connection.ops.sql_flush(no_style(), TABLES)
    with connection.cursor() as cursor:
        cursor.execute(emptying)
    thread.join(20)
    assert finished.is_set()
    assert not Project.objects.exists()
