"""A deadlock between a sender of spans and an erasure is not an error for the person who erases."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

import pytest
from django.db import OperationalError, transaction

from tests.threads import blocked_queries, in_a_thread
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.recording.otel.sql import lock_project
from timemachine.recording.sessions.commands import locked, start_session
from timemachine.recording.sessions.models import Session


@pytest.mark.django_db(transaction=True)
def test_an_erasure_in_a_deadlock_with_a_sender_finally_succeeds() -> None:
    project = Project.objects.create(name="p")
    session = start_session(project, name="s", by="test")
    entered = Event()

    def send() -> None:
        """Act like the batched spans of two keys, of which the first have locked their session."""
        with suppress(OperationalError), transaction.atomic():
            locked([session.id])
            entered.set()
            wait_until(blocked_queries, 30)
            lock_project(project, exclusively=False)

    with ThreadPoolExecutor(1) as pool:
        sending = in_a_thread(pool, send)
        assert entered.wait(60)
        assert erase_session(session, by="ada") == 0
        sending.result(60)
    assert not Session.objects.exists()
