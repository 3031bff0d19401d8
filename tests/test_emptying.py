"""Tables are emptied between two tests, even while a request of the first is still running."""

import threading

import pytest
from django.core.management.color import no_style
from django.db import connection, transaction

from tests.waiting import wait_until
from timemachine.core.accounts.models import Project

TABLES = ["tm_collection", "tm_project"]
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'tm_project'::regclass"


def waiting() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_a_request_that_is_still_under_way_is_let_go_first() -> None:
    Project.objects.create(name="left behind")
    holds, went = threading.Event(), threading.Event()

    def request() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL deadlock_timeout = '20s'")  # the other one is told of the deadlock
                cursor.execute("SELECT FROM tm_project FOR UPDATE")
                holds.set()
                wait_until(waiting, 20)
                cursor.execute("SELECT FROM tm_collection")
            went.set()
        finally:
            connection.close()

    thread = threading.Thread(target=request)
    thread.start()
    assert holds.wait(20)
    (emptying,) = connection.ops.sql_flush(no_style(), TABLES)
    with connection.cursor() as cursor:
        cursor.execute(emptying)
    thread.join(20)
    assert went.is_set()
    assert not Project.objects.exists()
