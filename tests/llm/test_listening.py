"""Ending a call from another thread: a promise about its socket."""

import socket
from collections.abc import Iterator

import pytest

from timemachine.llm.pure.cancellation import Cancellation, Listening, RetryWait


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(2)
        yield ours, theirs


def test_a_connection_that_comes_too_late_is_shut_at_once(ends: tuple[socket.socket, socket.socket]) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    cancellation.connected(ends[0])
    assert cancellation.requested
    assert ends[1].recv(1) == b""


def test_a_closed_connection_and_none_at_all_are_no_trouble() -> None:
    cancellation = Cancellation()
    ours, theirs = socket.socketpair()
    ours.close()
    theirs.close()
    cancellation.connected(ours)
    cancellation.cancel()
    cancellation.cancel()
    assert cancellation.requested


def test_after_an_attempt_its_socket_is_left_alone(ends: tuple[socket.socket, socket.socket]) -> None:
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
        ours, theirs = socket.socketpair()
        with ours, theirs:
            cancellation.connected(ours)
            assert theirs.recv(1) == b""
    assert not cancellation.requested


def test_the_time_of_one_attempt_is_not_taken_from_the_next(
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


def test_nobody_listens_unless_somebody_does() -> None:
    Listening().on_text("into the air")
    assert not Listening().cancellation.requested


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (0.4, "Busy. Retrying immediately (attempt 2)."),
        (12.6, "Busy. Retrying in 13 s (attempt 2)."),
    ],
)
def test_a_wait_says_when_it_is_asked_again(seconds: float, says: str) -> None:
    assert RetryWait(why="Busy.", seconds=seconds, attempt=2).message == says
