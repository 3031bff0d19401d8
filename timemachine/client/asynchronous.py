"""`AsyncTimeMachine`: the methods of `TimeMachine` as coroutines.

Each is that method in a thread of its own pool: one implementation of everything, and the event loop is never blocked. Recording itself
needs no thread of the caller's, so sessions are the same objects.
"""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial, update_wrapper
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING, Any, Final, Self

from timemachine.client.machine import TimeMachine
from timemachine.client.replayed import ReplayResult, RunningReplay

if TYPE_CHECKING:
    from timemachine.client.generated import types
    from timemachine.client.recording.recorder import Session

_THREADS: Final = 32


class _NotWaitedForError(Exception):
    """Ends a wait whose task was cancelled."""


class AsyncReplay:
    """A replay that was launched; `wait` returns its result."""

    def __init__(self, machine: "AsyncTimeMachine", running: RunningReplay) -> None:
        self._machine = machine
        self._running = running
        self.id = running.id

    async def wait(self, seen: Callable[["types.ReplayOut"], None] = lambda _: None) -> ReplayResult:
        """Wait for the replay and return its result with its steps; calls `seen` with each state, in a thread.

        Cancelling this only stops waiting; `cancel` stops the replay.
        """
        left = Event()

        def look(state: "types.ReplayOut") -> None:
            if left.is_set():
                raise _NotWaitedForError
            seen(state)

        def result() -> ReplayResult:
            found = self._running.wait(look)
            _ = found.steps  # fetched here, so that reading it later does not block
            return found

        try:
            return await self._machine.run(result)
        finally:
            left.set()

    async def cancel(self) -> None:
        """Cancel it: no further step starts."""
        await self._machine.run(self._running.cancel)


class AsyncTimeMachine:
    """`TimeMachine` for asynchronous programs: the same options, and the same methods to be awaited.

    `session` is not awaited: recording does not block, `async with` ends the session, and its `aput`, `afind`, `aask` and `aflush` are to be
    awaited. For anything that has no method here: `await tm.run(tm.blocking.client.shares.page)`.
    """

    def __init__(self, url: str | None = None, api_key: str | None = None, **options: Any) -> None:
        self.blocking = TimeMachine(url, api_key, **options)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="timemachine")
        tm = self.blocking
        self.flush = self._awaited(tm.flush)
        self.deliver_spooled = self._awaited(tm.deliver_spooled)
        self.sessions = self._iterated(tm.sessions)
        self.compare = self._awaited(tm.compare)
        self.transcript = self._awaited(tm.transcript)
        self.transcript_text = self._awaited(tm.transcript_text)
        self.weigh = self._awaited(tm.weigh)
        self.proposals = self._awaited(tm.proposals)
        self.compress = self._awaited(tm.compress)
        self.undo_compression = self._awaited(tm.undo_compression)
        self.recall = self._awaited(tm.recall)
        self.context_for = self._awaited(tm.context_for)
        self.summarise = self._awaited(tm.summarise)
        self.patterns = self._awaited(tm.patterns)
        self.similar_to = self._awaited(tm.similar_to)
        self.forget = self._awaited(tm.forget)
        self.training_report = self._awaited(tm.training_report)
        self.training_pairs = self._iterated(tm.training_pairs)
        self.resume = self._awaited(tm.resume)
        self.resume_and_continue = self._awaited(tm.resume_and_continue)
        self.session_start = self._awaited(tm.session_start)
        self.session_end = self._awaited(tm.session_end)
        self.session_checkpoint = self._awaited(tm.session_checkpoint)
        self.session_replay = self._awaited(tm.session_replay)
        self.put = self._awaited(tm.put)
        self.find = self._awaited(tm.find)
        self.ask = self._awaited(tm.ask)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> bool:
        """As `TimeMachine.close`."""
        try:
            return await self.run(self.blocking.close)
        finally:
            self._threads.shutdown(wait=False)

    async def run[**P, T](self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function in a thread, with the context variables of the task, and return its result."""
        call = partial(contextvars.copy_context().run, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    @property
    def url(self) -> str:
        """The URL of the server."""
        return self.blocking.url

    def session(self, name: str, **options: Any) -> "Session":
        """Start a session, for `async with`; `options` are those of `TimeMachine.session`."""
        return self.blocking.session(name, **options)

    @property
    def current(self) -> "Session":
        """The session of `session_start`. Raises `NotFound` if no session is open."""
        return self.blocking.current

    async def replay(self, session: "str | Session", **options: Any) -> AsyncReplay:
        """Launch a replay; `options` are those of `TimeMachine.replay`."""
        return AsyncReplay(self, await self.run(self.blocking.replay, session, **options))

    def _awaited[**P, T](self, method: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
        """The method as a coroutine function."""

        async def run(*args: P.args, **kwargs: P.kwargs) -> T:
            return await self.run(method, *args, **kwargs)

        return update_wrapper(run, method)

    def _iterated[**P, T](self, method: Callable[P, Iterator[T]]) -> Callable[P, AsyncIterator[T]]:
        """The method as an asynchronous generator function; a page is fetched when its first item is needed."""

        async def run(*args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
            items = await self.run(method, *args, **kwargs)
            while batch := await self.run(lambda: list(islice(items, 1))):
                yield batch[0]

        return update_wrapper(run, method)
