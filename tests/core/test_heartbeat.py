"""A heartbeat runs exactly as long as its block."""

import threading

import pytest

from timemachine.core.pure.timers import heartbeat


def test_it_beats_while_the_block_runs_and_ends_once_with_it() -> None:
    twice, beats, ends = threading.Event(), [], []

    def beat() -> None:
        beats.append(threading.current_thread())
        if len(beats) > 1:
            twice.set()

    with heartbeat(beat, every=0.001, at_end=lambda: ends.append(threading.current_thread())):
        assert twice.wait(10)
        assert ends == []
    assert ends == beats[:1]
    assert ends != [threading.current_thread()]
    assert not beats[0].is_alive()


def test_it_ends_if_the_block_fails() -> None:
    ends: list[int] = []
    with pytest.raises(KeyError), heartbeat(list, every=60, at_end=lambda: ends.append(1)):
        raise KeyError
    assert ends == [1]
