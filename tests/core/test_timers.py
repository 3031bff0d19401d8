"""Deadlines: what is due is done in its time and order, what was called off is not, and one that fails holds up no other."""

from functools import partial
from threading import Event
from time import monotonic

import pytest

from timemachine.core.pure import timers
from timemachine.core.pure.timers import call_later


@pytest.fixture(autouse=True)
def _a_watch_of_its_own() -> None:
    """Not the one that a test before began, perhaps while coverage did not look."""
    timers._timer_thread.cache_clear()


def test_what_is_due_earlier_is_done_earlier_whenever_it_was_said() -> None:
    done: list[str] = []
    last = Event()
    began = monotonic()
    call_later(0.3, last.set)
    for said, seconds in (("second", 0.2), ("first", 0.1)):
        call_later(seconds, partial(done.append, said))
    assert last.wait(20)
    assert done == ["first", "second"]
    assert monotonic() - began >= 0.3


def test_what_is_called_off_is_not_done() -> None:
    done: list[str] = []
    last = Event()
    off = call_later(1.5, lambda: done.append("called off"))
    call_later(1.6, last.set)
    off.cancel()
    assert last.wait(20)
    assert done == []


def test_one_that_fails_holds_up_no_other() -> None:
    last = Event()
    call_later(0.01, lambda: 1 / 0)
    call_later(0.03, last.set)
    assert last.wait(20)
