"""Deadlines: what is due is done in its time and order, what was called off is not, and one that fails holds up no other."""

from functools import partial
from threading import Event
from time import monotonic

import pytest

from timemachine.core.pure import deadline
from timemachine.core.pure.deadline import after


@pytest.fixture(autouse=True)
def _a_watch_of_its_own() -> None:
    """Not the one that a test before began, perhaps while coverage did not look."""
    deadline._watch.cache_clear()


def test_what_is_due_earlier_is_done_earlier_whenever_it_was_said() -> None:
    done: list[str] = []
    last = Event()
    began = monotonic()
    after(0.3, last.set)
    for said, seconds in (("second", 0.2), ("first", 0.1)):
        after(seconds, partial(done.append, said))
    assert last.wait(20)
    assert done == ["first", "second"]
    assert monotonic() - began >= 0.3


def test_what_is_called_off_is_not_done() -> None:
    done: list[str] = []
    last = Event()
    off = after(1.5, lambda: done.append("called off"))
    after(1.6, last.set)
    off.call_off()
    assert last.wait(20)
    assert done == []


def test_one_that_fails_holds_up_no_other() -> None:
    last = Event()
    after(0.01, lambda: 1 / 0)
    after(0.03, last.set)
    assert last.wait(20)
