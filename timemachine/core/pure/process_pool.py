"""A pool of processes for pure computation, so that it uses cores of its own. Threads of one process share one.

A worker runs `python -m timemachine.core.pure.process_pool`, reads calls, writes results, and ends when its parent
ends.
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
_MOST_WORKERS: Final = 3
"""The most workers. With more, the parent has enough to do handing out the work."""
_ENVIRONMENT: Final = ("PATH", "HOME", "LANG", "LC_", "TMP", "TEMP", "LD_", "PYTHON", "COVERAGE")
"""Prefixes of the environment variables that a worker gets. No key and no database address is among them."""
_STUCK_SECONDS: Final = 300.0
"""Seconds after which a worker without an answer counts as stuck. The longest computation takes two."""
_only_once: Final = Lock()


class _WorkerFailed(Exception):
    """The worker ended or failed at a call. The caller then computes it itself."""


class _Worker:
    """A worker process, the pipes to and from it, and the calls that it has not answered yet.

    Calls are sent before earlier ones are answered. Otherwise the worker would often be idle, waiting for one of
    many threads on a shared core to read its answer and send the next call.
    """

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name.startswith(_ENVIRONMENT)}
        command = [sys.executable, "-m", "timemachine.core.pure.process_pool"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_CODE, env=environment
        )
        self._to, self._back = cast(
            "tuple[IO[bytes], IO[bytes]]", (self._process.stdin, self._process.stdout)
        )
        self._unanswered: deque[Future[Any]] = deque()
        self._sending = Lock()
        self.ended = False
        self._reader = Thread(target=self._read_results, daemon=True)
        self._reader.start()

    @property
    def pending(self) -> int:
        """The number of calls without an answer."""
        return len(self._unanswered)

    def submit(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Future[Any]:
        """Send a call and return the future of its result. Raises `_WorkerFailed` if the worker has ended; the future
        can raise it too.
        """
        call = pickle.dumps((function, arguments))
        answer: Future[Any] = Future()
        with self._sending:
            if self.ended:
                raise _WorkerFailed
            self._unanswered.append(answer)
            with contextlib.suppress(OSError):  # it has ended; the reader reports that
                self._to.write(call)
                self._to.flush()
        return answer

    def kill(self) -> None:
        """Kill the worker. Its unanswered calls fail."""
        self._process.kill()

    def close(self) -> None:
        """Close the pipe, on which the worker ends, and wait for it. No more calls may follow."""
        with contextlib.suppress(OSError):
            self._to.close()
        self._reader.join()
        self._back.close()
        self._process.wait()

    def _read_results(self) -> None:
        try:
            while True:
                succeeded, answer = pickle.load(self._back)  # noqa: S301  # written by our own process
                future = self._unanswered.popleft()
                if succeeded:
                    future.set_result(answer)
                else:
                    future.set_exception(_WorkerFailed())
        except EOFError:
            pass
        except Exception:  # an answer that cannot be read; those after it cannot be separated
            log.exception("a worker process is given up")
        finally:
            self._process.kill()  # or a thread that is sending might wait forever with the lock
            with self._sending:
                self.ended = True
                while self._unanswered:
                    self._unanswered.popleft().set_exception(_WorkerFailed())


class ProcessPool:
    """Worker processes, each with a queue of calls."""

    def __init__(self, count: int) -> None:
        self._all: list[_Worker] = []
        with contextlib.suppress(OSError):  # not enough resources for so many
            self._all.extend(_Worker() for _ in range(count))

    def __call__[T](self, function: Callable[..., T], *arguments: Any) -> T:
        """Return the result of the function, computed by the least busy worker, or here if that fails.

        It waits even if all workers are busy: computing here would keep the other threads of this process from
        their work.
        """
        worker = min(
            (each for each in self._all if not each.ended), key=lambda each: each.pending, default=None
        )
        if worker is not None:
            try:
                return cast("T", worker.submit(function, arguments).result(_STUCK_SECONDS))
            except TimeoutError:
                worker.kill()
            except _WorkerFailed:
                pass
        return function(*arguments)

    def close(self) -> None:
        """End all workers. No more calls may follow."""
        for worker in self._all:
            worker.close()


_current: ContextVar[ProcessPool | None] = ContextVar("process_pool", default=None)


def run_in_pool[T](function: Callable[..., T], *arguments: Any) -> T:
    """Return the result of a pure function, computed in the pool that this thread uses, if any.

    It must be a function of a module, and it, its arguments and its result must be picklable.
    """
    pool = _current.get()
    return function(*arguments) if pool is None else pool(function, *arguments)


@contextmanager
def process_pool() -> Iterator[ProcessPool | None]:
    """Run a pool of one worker fewer than there are cores. Yields None on one core, or if this process has a pool.

    Few workers are better than many, because each caches what it has read.
    """
    cores = os.cpu_count() or 1
    if cores == 1 or not _only_once.acquire(blocking=False):
        yield None
        return
    try:
        pool = ProcessPool(min(cores - 1, _MOST_WORKERS))
        try:
            yield pool
        finally:
            pool.close()
    finally:
        _only_once.release()


@contextmanager
def use_pool(pool: ProcessPool | None) -> Iterator[None]:
    """Have this thread use the pool while the block runs."""
    before = _current.set(pool)
    try:
        yield
    finally:
        _current.reset(before)


def main() -> None:
    """Run calls from standard input until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends this one
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # nothing else may be written between the answers
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301  # written by the process that started this one
            answers.write(_result(function, arguments))
            answers.flush()


def _result(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    try:
        return pickle.dumps((True, function(*arguments)))
    except Exception:  # noqa: BLE001  # the parent repeats the call and fails
        return pickle.dumps((False, None))


if __name__ == "__main__":
    main()
