"""How somebody asks us to stop: Ctrl-C, SIGTERM, or closing the terminal."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class AskedToStop(BaseException):
    """Raised in the main thread wherever it is; not an error."""


@contextmanager
def stopping_when_asked() -> Iterator[None]:
    """Inside, the first such signal raises `AskedToStop` and further ones change nothing, so that stopping is not interrupted.

    A SIGHUP that is ignored already (`nohup`) stays ignored.
    """
    before = {number: signal.getsignal(number) for number in _ASKING}
    for number, present in before.items():
        if number != signal.SIGHUP or present != signal.SIG_IGN:
            signal.signal(number, _ask)
    try:
        yield
    finally:
        for number, present in before.items():
            signal.signal(number, present)


def _ask(_number: int, _frame: FrameType | None) -> None:
    for number in _ASKING:
        signal.signal(number, signal.SIG_IGN)
    raise AskedToStop
