"""An overloaded server is not an unreachable one: the recorder, the client and the command wait and send again."""

import logging
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from django.core.signals import request_finished

from tests.cli.conftest import terminal, tm
from tests.cli.terminal import Here
from tests.client.conftest import Served
from tests.threads import in_a_thread
from tests.waiting import wait_until
from timemachine.api import concurrency

__all__ = ["terminal", "tm"]


def full() -> ExitStack:
    """All recording slots, taken until this is closed."""
    places = ExitStack()
    for _ in range(concurrency.AT_ONCE):
        places.enter_context(concurrency.place())
    return places


@contextmanager
def answered() -> Generator[list[object]]:
    """The status of each answer given meanwhile."""
    seen: list[object] = []

    def note(**_: object) -> None:
        seen.append(1)

    request_finished.connect(note)
    yield seen
    request_finished.disconnect(note)


def test_actions_recorded_while_the_server_is_busy_are_delivered_in_order_without_a_warning(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "timemachine")
    tm = served.machine(patience=60.0)
    with full() as places, tm.session("Busy", key="busy") as s:
        for number in range(50):
            s.record("agent", number)
        wait_until(lambda: tm.sender.delivery.unreachable is not None)
        s.record("agent", 50)
        places.close()
    assert served.outputs("busy") == list(range(51))
    wait_until(lambda: served.spooled() == [])
    assert [each for each in caplog.records if each.name.startswith("timemachine.client")] == []


def test_the_end_of_a_session_waits_for_the_retry_after_time(served: Served) -> None:
    tm = served.machine(patience=60.0)
    with full() as places, ThreadPoolExecutor(1) as pool:
        s = tm.session("Ends", key="ends")
        s.record("agent", 1)
        wait_until(lambda: tm.sender.delivery.unreachable is not None)
        ending = in_a_thread(pool, s.end)
        assert not ending.done()
        places.close()
        ending.result(60)
    assert served.outputs("ends") == [1]


def test_actions_without_a_key_are_retried(served: Served) -> None:
    client = served.machine().client
    client.sessions.start(name="Plain", key="plain")
    with full() as places, answered() as answers, ThreadPoolExecutor(1) as pool:
        sent = in_a_thread(pool, lambda: client.sessions.append("plain", [{"kind": "event"}]))
        wait_until(lambda: answers)
        places.close()
        assert sent.result(60) == [1]
    assert len(answers) > 1
    assert len(served.actions("plain")) == 1


def test_the_command_waits_for_a_busy_server_too(tm: Here) -> None:
    tm.run("session", "start", "notes", "--name", "n", "--key", "n")
    with full() as places, answered() as answers, ThreadPoolExecutor(1) as pool:
        ran = in_a_thread(pool, lambda: tm.run("session", "checkpoint", "n", "--name", "here", "--json"))
        wait_until(lambda: answers)
        places.close()
        assert ran.result(60).document == {"sequence": 1, "name": "here"}
    assert len(answers) > 1
