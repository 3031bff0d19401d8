"""The terminal of `make up`: print to it, and stop on Ctrl-C, SIGTERM, or when it is closed.

A signal's handler only sets a flag. `nap` raises the exception at a safe point: raised in the handler, it could leave a lock of the
standard library locked forever.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(Exception):  # not an error
    """Raised by `nap` after a signal."""


class _State:
    stop_requested = False


@contextmanager
def stopping_on_signals() -> Iterator[None]:
    """Let these signals make the next `nap` raise. A SIGHUP that is already ignored (`nohup`) stays ignored."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    _State.stop_requested = False
    for number, present in before.items():
        if number != signal.SIGHUP or present != signal.SIG_IGN:
            signal.signal(number, _request_stop)
    try:
        yield
    finally:
        for number, present in before.items():
            signal.signal(number, present)
        _State.stop_requested = False


def nap(seconds: float) -> None:
    """Sleep. Raises `StopRequested` if a signal has arrived."""
    if not _State.stop_requested:
        time.sleep(seconds)
    if _State.stop_requested:
        raise StopRequested


def _request_stop(_number: int, _frame: FrameType | None) -> None:
    _State.stop_requested = True


def print_line(line: str) -> None:
    """Print a line to standard output."""
    _write(sys.stdout, line)


def print_error(line: str) -> None:
    """Print a line to standard error."""
    _write(sys.stderr, line)


def _write(stream: TextIO, line: str) -> None:
    try:
        print(line, file=stream, flush=True)
    except OSError:  # nobody reads; redirect it, because Python flushes it again when it exits
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
