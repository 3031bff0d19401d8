"""Thinking done in processes beside this one, so that it uses a core of its own: threads of one process share one.

A process beside runs `python -m timemachine.base.aside`, reads calls and writes answers, and ends with whoever started it.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import IO, Any, Final, cast

_CODE: Final = Path(__file__).resolve().parent.parent.parent
_MOST: Final = 3
"""With more of them, whoever hands the work out has enough to do."""
_GIVEN: Final = ("PATH", "HOME", "LANG", "LC_", "TMP", "TEMP", "LD_", "PYTHON", "COVERAGE")
"""How the names of those variables begin that a process beside gets: no key and no address of a database is among them."""
_only_once: Final = Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Thinker:
    """One process beside, and the pipes that lead to it and back."""

    process: subprocess.Popen[bytes]
    to: IO[bytes]
    back: IO[bytes]

    def asked(self, think: Callable[..., Any], about: tuple[Any, ...]) -> Any:
        pickle.dump((think, about), self.to)
        self.to.flush()
        return pickle.load(self.back)  # noqa: S301  # written by our own process


class Beside:
    """Processes that think, each about one thing at a time."""

    def __init__(self, count: int) -> None:
        self._all = [_started() for _ in range(count)]
        self._free: SimpleQueue[_Thinker | None] = SimpleQueue()
        for thinker in self._all:
            self._free.put(thinker)

    def __call__[T](self, think: Callable[..., T], *about: Any) -> T:
        """What the function comes to, in the next process that is free; in this one where that has ended.

        It waits for one: a thread that thought here meanwhile would keep all others of this process from their work.
        """
        thinker = self._free.get()
        try:
            return think(*about) if thinker is None else cast("T", thinker.asked(think, about))
        except (OSError, EOFError, pickle.UnpicklingError):
            thinker = None  # it has ended, of itself or of this thought
            return think(*about)
        finally:
            self._free.put(thinker)

    def end(self) -> None:
        """End them all, once nobody asks any more: each ends when its pipe is closed."""
        for thinker in self._all:
            with contextlib.suppress(OSError):
                thinker.process.communicate()


_used: ContextVar[Beside | None] = ContextVar("beside", default=None)


def aside[T](think: Callable[..., T], *about: Any) -> T:
    """What a function without side effects comes to: thought beside where this thread uses such processes, else here.

    The function is one of a module, and it, what it is about and what it comes to can be pickled.
    """
    beside = _used.get()
    return think(*about) if beside is None else beside(think, *about)


@contextmanager
def thinking_beside() -> Iterator[Beside | None]:
    """One process fewer than there are cores; None where there is one core, or where others of this process have them already.

    Few that know many passages are better than many that know few: each keeps what it has read.
    """
    cores = os.cpu_count() or 1
    if cores == 1 or not _only_once.acquire(blocking=False):
        yield None
        return
    try:
        beside = Beside(min(cores - 1, _MOST))
        try:
            yield beside
        finally:
            beside.end()
    finally:
        _only_once.release()


@contextmanager
def using(beside: Beside | None) -> Iterator[None]:
    """Have this thread think beside while the block runs."""
    before = _used.set(beside)
    try:
        yield
    finally:
        _used.reset(before)


def _started() -> _Thinker:
    command = [sys.executable, "-m", "timemachine.base.aside"]
    environment = {name: value for name, value in os.environ.items() if name.startswith(_GIVEN)}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_CODE, env=environment
    )
    to, back = cast("tuple[IO[bytes], IO[bytes]]", (process.stdin, process.stdout))
    return _Thinker(process=process, to=to, back=back)


def main() -> None:
    """Answer what is asked until nobody is left who asks; a thought that fails ends it, and fails again where it was asked for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            think, about = pickle.load(sys.stdin.buffer)  # noqa: S301  # written by the process that started this one
            pickle.dump(think(*about), sys.stdout.buffer)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
