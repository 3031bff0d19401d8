"""A sender of spans and a person who erases are in each other's way: the person meets no failure."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

import pytest
from django.db import OperationalError, connection, transaction

from tests.threads import in_a_thread
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.recording.otel.sql import lock_project
from timemachine.recording.sessions.commands import locked, start_session
from timemachine.recording.sessions.models import Session

WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


def waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return int(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_an_erasure_that_waits_for_a_sender_that_waits_for_it_is_done_in_the_end() -> None:
    project = Project.objects.create(name="p")
    session = start_session(project, name="s", by="test")
    entered = Event()

    def send() -> None:
        """What the spans of two keys do that are recorded together: those of the first have locked their session."""
        with suppress(OperationalError), transaction.atomic():
            locked([session.id])
            entered.set()
            wait_until(waiting, 30)
            lock_project(project, exclusively=False)

    with ThreadPoolExecutor(1) as pool:
        sending = in_a_thread(pool, send)
        assert entered.wait(60)
        assert erase_session(session, by="ada") == 0
        sending.result(60)
    assert not Session.objects.exists()
