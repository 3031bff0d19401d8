"""Timers: calls run at their time and in order, a cancelled one does not run, and one that fails does not affect others."""

from functools import partial
from threading import Event
from time import monotonic

import pytest

from timemachine.core.pure import timers
from timemachine.core.pure.timers import call_later


@pytest.fixture(autouse=True)
def _fresh_timer_thread() -> None:
    """Discard the thread of an earlier test, which may have been started without coverage."""
    timers._timer_thread.cache_clear()


def test_calls_run_in_order_of_their_time_not_of_registration() -> None:
    done: list[str] = []
    last = Event()
    began = monotonic()
    call_later(0.3, last.set)
    for name, seconds in (("second", 0.2), ("first", 0.1)):
        call_later(seconds, partial(done.append, name))
    assert last.wait(20)
    assert done == ["first", "second"]
    assert monotonic() - began >= 0.3


def test_a_cancelled_call_does_not_run() -> None:
    done: list[str] = []
    last = Event()
    cancelled = call_later(1.5, lambda: done.append("called off"))
    call_later(1.6, last.set)
    cancelled.cancel()
    assert last.wait(20)
    assert done == []


def test_a_failing_call_does_not_block_others() -> None:
    last = Event()
    call_later(0.01, lambda: 1 / 0)
    call_later(0.03, last.set)
    assert last.wait(20)
