"""Concurrent spans of several keys."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import transaction
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.api.conftest import Program
from tests.recording.otel.spans.test_decoding import ID
from tests.recording.otel.traces.conftest import Exporter
from tests.threads import blocked_queries, in_a_thread
from tests.waiting import wait_until
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import locked, start_session
from timemachine.recording.sessions.models import Action


@pytest.mark.django_db(transaction=True)
def test_a_blocked_sender_does_not_hold_up_others(api: Program, project: Project) -> None:
    began = 1_760_000_000_000_000_000
    first, second = (Span(trace_id=bytes([at]) * 16, span_id=ID, start_time_unix_nano=began) for at in (1, 2))
    held = start_session(project, name="x", key=first.trace_id.hex(), by="test")

    def sender(name: str) -> Any:
        _, key = make_api_key(project, name=name, scopes=["record"])
        return Exporter(Program(key=key, client=api.client))

    one, other = sender("one"), sender("other")
    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            locked([held.id])
            waits = in_a_thread(pool, lambda: one.send(first))
            wait_until(blocked_queries, 30)
            goes = in_a_thread(pool, lambda: other.send(second))
            wait_until(lambda: Action.objects.count() == 1, 30)
            assert not waits.done()
        waits.result(60)
        goes.result(60)
    assert Action.objects.count() == 2
