"""How somebody asks us to stop: Ctrl-C, SIGTERM, or closing the terminal.

A handler only takes note. The exception is raised in `nap`, where nothing is half done: raised by the handler itself it
could leave a lock of the standard library taken for ever.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class AskedToStop(Exception):  # not an error, but the shortest way out
    """Raised by `nap` once somebody asked."""


class _Note:
    asked = False


@contextmanager
def stopping_when_asked() -> Iterator[None]:
    """Inside, these signals make the next `nap` raise. A SIGHUP that is ignored already (`nohup`) stays ignored."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    _Note.asked = False
    for number, present in before.items():
        if number != signal.SIGHUP or present != signal.SIG_IGN:
            signal.signal(number, _take_note)
    try:
        yield
    finally:
        for number, present in before.items():
            signal.signal(number, present)
        _Note.asked = False


def nap(seconds: float) -> None:
    """Wait. Raises `AskedToStop` where somebody asked, before or meanwhile."""
    if not _Note.asked:
        time.sleep(seconds)
    if _Note.asked:
        raise AskedToStop


def _take_note(_number: int, _frame: FrameType | None) -> None:
    _Note.asked = True
