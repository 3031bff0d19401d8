"""Thinking beside: in other processes where there are some, the same as here, and here where they are gone."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from operator import truediv
from time import sleep
from typing import Any

import pytest

from timemachine.core.pure import process_pool as aside_module
from timemachine.core.pure.process_pool import Beside, aside, thinking_beside, using
from timemachine.text.pure.grounding.support import Passage, ground


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


@pytest.mark.usefixtures("cores")
def test_a_thought_is_the_same_in_another_process() -> None:
    passages = [Passage(frame=1, text="Cats sleep sixteen hours a day. Dogs sleep twelve.")]
    here = aside(ground, "Cats sleep nine hours a day.", passages)
    with thinking_beside() as beside, using(beside):
        assert aside(os.getpid) != os.getpid()
        assert aside(ground, "Cats sleep nine hours a day.", passages) == here
    assert aside(os.getpid) == os.getpid()


@pytest.mark.usefixtures("cores")
def test_several_threads_think_beside_at_the_same_time() -> None:
    with thinking_beside() as beside, ThreadPoolExecutor(4) as threads:
        assert beside is not None
        assert list(threads.map(beside, [divmod] * 50, range(50), [7] * 50)) == [
            divmod(n, 7) for n in range(50)
        ]
        assert len(set(threads.map(beside, [os.getpid] * 50))) <= 2


def test_what_a_process_was_killed_at_is_thought_here() -> None:
    beside = Beside(1)
    try:
        os.kill(beside(os.getpid), signal.SIGKILL)
        assert beside(max, 3, 4) == 4
        assert beside(os.getpid) == os.getpid()
    finally:
        beside.end()


def test_all_that_a_process_was_asked_before_it_was_killed_is_thought_here() -> None:
    beside = Beside(1)
    try:
        process = beside(os.getpid)
        os.kill(process, signal.SIGSTOP)
        with ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(beside, max, n, 2) for n in range(4)]
            sleep(0.2)
            assert not any(each.done() for each in asked)
            os.kill(process, signal.SIGKILL)
            assert [each.result(20) for each in asked] == [2, 2, 2, 3]
    finally:
        beside.end()


def test_one_that_was_killed_is_asked_no_more_while_there_is_another() -> None:
    beside = Beside(2)
    try:
        os.kill(beside(os.getpid), signal.SIGKILL)
        thinkers = {beside(os.getpid) for _ in range(20)}
        assert len(thinkers - {os.getpid()}) == 1
        assert beside(os.getpid) != os.getpid()
    finally:
        beside.end()


def test_one_that_ended_while_it_was_chosen_thinks_nothing_more() -> None:
    beside = Beside(1)
    (thinker,) = beside._all  # who chose it still holds it
    try:
        os.kill(beside(os.getpid), signal.SIGKILL)
        thinker._hearing.join(20)
        with pytest.raises(aside_module._NotThought):
            thinker.ask(max, (3, 4))
    finally:
        beside.end()


class Unreadable:
    """What can be sent and not be received."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("no number",)


def test_an_answer_that_cannot_be_read_is_thought_here_and_so_is_all_after_it() -> None:
    beside = Beside(1)
    try:
        assert isinstance(beside(Unreadable), Unreadable)
        assert beside(max, 3, 4) == 4
    finally:
        beside.end()


def test_what_a_thought_prints_stands_between_no_answers() -> None:
    beside = Beside(1)
    try:
        assert beside(print, "said beside") is None
        assert beside(os.getpid) != os.getpid()
    finally:
        beside.end()


def test_a_process_that_answers_no_more_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside(1)
    try:
        other = beside(os.getpid)
        assert other != os.getpid()  # else it is this process that would stop, and nobody would see why
        os.kill(other, signal.SIGSTOP)
        monkeypatch.setattr(aside_module, "_LONGEST", 0.3)
        assert beside(max, 3, 4) == 4
    finally:
        beside.end()


def test_a_thought_that_fails_fails_here_as_it_would_have() -> None:
    beside = Beside(1)
    try:
        with pytest.raises(ZeroDivisionError):
            beside(truediv, 1, 0)
        assert beside(truediv, 1, 2) == 0.5
        assert beside(os.getpid) != os.getpid()
    finally:
        beside.end()


@pytest.mark.usefixtures("cores")
def test_only_one_at_a_time_has_processes_beside() -> None:
    with thinking_beside() as first, thinking_beside() as second:
        assert first is not None
        assert second is None
    with thinking_beside() as third:
        assert third is not None


def test_one_core_has_nobody_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with thinking_beside() as beside, using(beside):
        assert beside is None
        assert aside(os.getpid) == os.getpid()


def test_a_process_beside_knows_no_key_and_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "SECRET_KEY", "DATABASE_URL"):
        monkeypatch.setenv(name, "not for everybody")
    beside = Beside(1)
    try:
        assert beside(os.getenv, "PATH") == os.environ["PATH"]
        assert [beside(os.getenv, name) for name in ("OPENAI_API_KEY", "SECRET_KEY", "DATABASE_URL")] == [
            None
        ] * 3
    finally:
        beside.end()
