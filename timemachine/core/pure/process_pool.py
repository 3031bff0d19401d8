"""Thinking done in processes beside this one, so that it uses a core of its own: threads of one process share one.

A process beside runs `python -m timemachine.core.pure.process_pool`, reads calls and writes answers, and ends with whoever started it.
"""

import contextlib
import logging
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any, Final, cast

log = logging.getLogger(__name__)

_CODE: Final = Path(__file__).resolve().parents[3]
_MOST: Final = 3
"""With more of them, whoever hands the work out has enough to do."""
_GIVEN: Final = ("PATH", "HOME", "LANG", "LC_", "TMP", "TEMP", "LD_", "PYTHON", "COVERAGE")
"""How the names of those variables begin that a process beside gets: no key and no address of a database is among them."""
_LONGEST: Final = 300.0
"""Seconds after which a process that has not answered is taken to be stuck: the longest of all thoughts takes two."""
_only_once: Final = Lock()


class _NotThought(Exception):
    """The process beside has ended, or could not think this; whoever asked thinks it, and fails as that did."""


class _Thinker:
    """One process beside, the pipes that lead to it and back, and what it was asked and has not answered yet.

    It is asked more before it has answered: a process that had to wait until somebody here hears its answer and asks the next
    would often have nothing to do, because whoever hears that is one of many threads that share a core.
    """

    def __init__(self) -> None:
        self._process = _started()
        self._to, self._back = cast(
            "tuple[IO[bytes], IO[bytes]]", (self._process.stdin, self._process.stdout)
        )
        self._asked: deque[Future[Any]] = deque()
        self._asking = Lock()
        self.gone = False
        self._hearing = Thread(target=self._hear, daemon=True)
        self._hearing.start()

    @property
    def under_way(self) -> int:
        """How much it was asked and has not answered."""
        return len(self._asked)

    def ask(self, think: Callable[..., Any], about: tuple[Any, ...]) -> Future[Any]:
        """What it will answer, in its turn. Raises `_NotThought`, as what is awaited may."""
        question = pickle.dumps((think, about))
        answer: Future[Any] = Future()
        with self._asking:
            if self.gone:
                raise _NotThought
            self._asked.append(answer)
            with contextlib.suppress(OSError):  # then it has ended, and who hears says so
                self._to.write(question)
                self._to.flush()
        return answer

    def kill(self) -> None:
        """End it at once; what it was asked is not thought."""
        self._process.kill()

    def end(self) -> None:
        """End it, once nobody asks any more: it ends when its pipe is closed."""
        with contextlib.suppress(OSError):
            self._to.close()
        self._hearing.join()
        self._back.close()
        self._process.wait()

    def _hear(self) -> None:
        try:
            while True:
                was_thought, answer = pickle.load(self._back)  # noqa: S301  # written by our own process
                asked = self._asked.popleft()
                if was_thought:
                    asked.set_result(answer)
                else:
                    asked.set_exception(_NotThought())
        except EOFError:
            pass
        except Exception:  # an answer that cannot be read here; nothing after it can be told apart
            log.exception("a process that thinks beside is given up")
        finally:
            self._process.kill()  # or whoever is asking it at this moment might wait for ever, and hold the lock
            with self._asking:
                self.gone = True
                while self._asked:
                    self._asked.popleft().set_exception(_NotThought())


class Beside:
    """Processes that think, each about one thing after the other."""

    def __init__(self, count: int) -> None:
        self._all: list[_Thinker] = []
        with contextlib.suppress(OSError):  # there is no room for so many
            self._all.extend(_Thinker() for _ in range(count))

    def __call__[T](self, think: Callable[..., T], *about: Any) -> T:
        """What the function comes to, in the process that has least to do; in this one where that ended meanwhile, or none is left.

        It waits for its turn: a thread that thought here meanwhile would keep all others of this process from their work.
        """
        thinker = min((each for each in self._all if not each.gone), key=_under_way, default=None)
        if thinker is not None:
            try:
                return cast("T", thinker.ask(think, about).result(_LONGEST))
            except TimeoutError:
                thinker.kill()
            except _NotThought:
                pass
        return think(*about)

    def end(self) -> None:
        """End them all, once nobody asks any more."""
        for thinker in self._all:
            thinker.end()


def _under_way(thinker: _Thinker) -> int:
    return thinker.under_way


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


def _started() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "timemachine.core.pure.process_pool"]
    environment = {name: value for name, value in os.environ.items() if name.startswith(_GIVEN)}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_CODE, env=environment
    )


def main() -> None:
    """Answer what is asked until nobody is left who asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # nothing else may stand between the answers
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            think, about = pickle.load(sys.stdin.buffer)  # noqa: S301  # written by the process that started this one
            answers.write(_thought(think, about))
            answers.flush()


def _thought(think: Callable[..., Any], about: tuple[Any, ...]) -> bytes:
    try:
        return pickle.dumps((True, think(*about)))
    except Exception:  # noqa: BLE001  # it fails again where it was asked for
        return pickle.dumps((False, None))


if __name__ == "__main__":
    main()
