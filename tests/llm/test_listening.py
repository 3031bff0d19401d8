"""Ending a call from another thread by shutting its socket down."""

import socket
from collections.abc import Iterator

import pytest

from timemachine.llm.pure.cancellation import Cancellation, Listening, RetryWait


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    local, remote = socket.socketpair()
    with local, remote:
        remote.settimeout(2)
        yield local, remote


def test_a_connection_made_too_late_is_shut_immediately(ends: tuple[socket.socket, socket.socket]) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    cancellation.connected(ends[0])
    assert cancellation.requested
    assert ends[1].recv(1) == b""


def test_a_pause_lasts_until_its_end_or_the_cancellation() -> None:
    cancellation = Cancellation()
    cancellation.pause(0.001)
    assert not cancellation.requested
    cancellation.cancel()
    cancellation.pause(600)  # returns at once
    assert cancellation.requested


def test_a_closed_or_missing_connection_is_handled() -> None:
    cancellation = Cancellation()
    local, remote = socket.socketpair()
    local.close()
    remote.close()
    cancellation.connected(local)
    cancellation.cancel()
    cancellation.cancel()
    assert cancellation.requested


def test_after_an_attempt_its_socket_is_not_touched(ends: tuple[socket.socket, socket.socket]) -> None:
    cancellation = Cancellation()
    with cancellation.watching(60):
        cancellation.connected(ends[0])
    cancellation.cancel()
    ends[0].send(b"x")
    assert ends[1].recv(1) == b"x"


def test_an_attempt_that_is_out_of_time_loses_its_socket_and_any_later_one(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    cancellation = Cancellation()
    with cancellation.watching(0.05):
        cancellation.connected(ends[0])
        assert ends[1].recv(1) == b""
        assert cancellation.out_of_time
        local, remote = socket.socketpair()
        with local, remote:
            cancellation.connected(local)
            assert remote.recv(1) == b""
    assert not cancellation.requested


def test_the_time_limit_of_one_attempt_does_not_affect_the_next(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    cancellation = Cancellation()
    with cancellation.watching(60):
        first = cancellation._attempt
    with cancellation.watching(60):
        cancellation.connected(ends[0])
        cancellation._expire(first)
        assert not cancellation.out_of_time
        ends[0].send(b"x")
    assert ends[1].recv(1) == b"x"


def test_a_default_listener_does_nothing() -> None:
    Listening().on_text("into the air")
    assert not Listening().cancellation.requested


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        (0.4, "Busy. Retrying immediately (attempt 2)."),
        (12.6, "Busy. Retrying in 13 s (attempt 2)."),
    ],
)
def test_a_wait_states_when_the_retry_happens(seconds: float, message: str) -> None:
    assert RetryWait(why="Busy.", seconds=seconds, attempt=2).message == message
