"""Records the calls of the proxy. Nothing that goes wrong here reaches a call."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from timemachine.client.proxy.pure.exchange import Exchange
from timemachine.client.proxy.pure.headers import Caller
from timemachine.client.proxy.pure.names import name_of
from timemachine.client.proxy.pure.steps import steps_of
from timemachine.client.proxy.running_calls import RunningCalls, left_in
from timemachine.core.pure.json_types import JsonObject

if TYPE_CHECKING:
    from timemachine.client.machine import TimeMachine
    from timemachine.client.recording.recorder import Session

log = logging.getLogger(__name__)

ACKNOWLEDGED_SECONDS: Final = 2.0
"""So long the end of an answer waits until its call is in the spool; then it goes on without."""
_MOST_WAITING_BYTES: Final = 256 * 1024 * 1024
"""Bytes of calls that wait to be recorded; calls beyond it are lost and counted."""
_IDLE_SECONDS: Final = 1800.0
_MOST_CALLS: Final = 10_000
"""Tool calls whose results are expected, and results that were seen."""


class _Recent[T](OrderedDict[tuple[str, str], T]):
    """The latest of some facts."""

    def note(self, name: tuple[str, str], value: T) -> None:
        self[name] = value
        if len(self) > _MOST_CALLS:
            self.popitem(last=False)


@dataclass(slots=True)
class _Open:
    """A session that is being recorded, and when its last call was."""

    session: Session
    used_at: float


class CallRecorder:
    """Records calls into sessions: the one that a header names, else the session of this run, or with `by_api_key` one
    for each API key. Sessions of this run end with `close`; those that a header names stay open.
    """

    def __init__(
        self,
        machine: TimeMachine,
        *,
        key: str | None = None,
        by_api_key: bool = False,
        with_tools: bool = True,
    ) -> None:
        now = datetime.now(UTC)
        self.calls = 0
        self.lost = 0
        self._machine = machine
        self._key = key or f"proxy-{now:%Y%m%d-%H%M%S}-{time.time_ns() % 0xFFFF:04x}"
        self._name = key
        self._unnamed = f"Proxy {now:%Y-%m-%d %H:%M} UTC"
        self._by_api_key = by_api_key
        self._with_tools = with_tools
        self._open: dict[str, _Open] = {}
        self._called: _Recent[JsonObject] = _Recent()
        self._seen: _Recent[None] = _Recent()
        self._waiting_bytes = 0
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="timemachine-proxy")
        self._looked_at = time.monotonic()
        self.running: set[int] = set()
        self._running = RunningCalls(machine.sender.folder)
        self._worker.submit(self._record_left)

    @property
    def key(self) -> str:
        """The key of the session of this run."""
        return self._key

    def key_of(self, caller: Caller) -> str:
        """Return the key of the session that a call is recorded in."""
        if caller.session is not None:
            return caller.session
        by_key = self._by_api_key and caller.key_hash
        return f"{self._key}-{caller.key_hash}" if by_key else self._key

    def record(self, exchange: Exchange, done: Callable[[], None] = lambda: None) -> None:
        """Record a call soon; calls `done` on another thread as soon as it is in the spool, or cannot be recorded."""
        size = exchange.request.kept + exchange.response.kept
        with self._lock:
            is_taken = self._waiting_bytes + size <= _MOST_WAITING_BYTES
            self._waiting_bytes += size if is_taken else 0
        try:
            if not is_taken:
                raise RuntimeError("Calls are arriving faster than they can be recorded")  # noqa: TRY301
            self._worker.submit(self._work, exchange, size, done)
        except RuntimeError as why:  # or it is closed
            self._lose(why)
            done()

    def note(self, exchange: Exchange) -> None:
        """Store a running call, so that it is not lost if the proxy is killed."""
        with suppress(RuntimeError):  # it is closed
            self._worker.submit(self._note, exchange)

    async def recorded(self, exchange: Exchange) -> None:
        """Record a call, and wait a moment until it is in the spool."""
        loop = asyncio.get_running_loop()
        written = asyncio.Event()

        def done() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(written.set)

        self.record(exchange, done)
        with suppress(TimeoutError):
            await asyncio.wait_for(written.wait(), ACKNOWLEDGED_SECONDS)

    def close(self) -> None:
        """Record what waits, and end the sessions of this run."""
        self._worker.shutdown()
        for each in self._open.values():
            each.session.end()
        self._running.close()

    def _work(self, exchange: Exchange, size: int, done: Callable[[], None]) -> None:
        try:
            session = self._session(exchange)
            for step in self._steps(exchange, session):
                session.add(step)
            self.calls += 1
            session.when_written(partial(self._written, exchange, done))
            self._release_idle()
        except Exception as why:  # noqa: BLE001  # the recorder must not stop a call
            self._lose(why)
            done()
        finally:
            with self._lock:
                self._waiting_bytes -= size

    def _note(self, exchange: Exchange) -> None:
        try:
            session = self._session(exchange)
            exchange.id = session.next_id()
            steps = steps_of(exchange.unanswered(), exchange.id, with_tools=self._with_tools)
            options = self._options(session.key, exchange.caller, session.name)
            exchange.noted = self._running.note(options, steps)
            self.running.add(exchange.noted)
        except Exception as why:  # noqa: BLE001  # the recorder must not stop a call
            log.debug("A running call was not stored: %r", why)

    def _written(self, exchange: Exchange, done: Callable[[], None]) -> None:
        """The steps of a call are in the spool."""
        done()
        if exchange.noted is not None:
            with suppress(RuntimeError):  # it is closed, and removes all of them
                self._worker.submit(self._forget, exchange.noted)

    def _forget(self, number: int) -> None:
        self.running.discard(number)
        with suppress(OSError):
            self._running.forget(number)

    def _record_left(self) -> None:
        """Record the calls that were running in proxies that were killed."""
        try:
            for options, steps in left_in(self._machine.sender.folder):
                key = options["key"]
                if key not in self._open:
                    self._open[key] = _Open(self._machine.session(**options), 0.0)
                for step in steps:
                    self._open[key].session.add(step)
        except Exception as why:  # noqa: BLE001  # the recorder must not stop the proxy
            log.warning("Calls of an earlier proxy were not recorded (%r).", why)

    def _steps(self, exchange: Exchange, session: Session) -> list[JsonObject]:
        """Return the steps of a call, without results that were recorded before, and each result below its call if that is known."""
        found = []
        for step in steps_of(exchange, exchange.id or session.next_id(), with_tools=self._with_tools):
            place = (session.key, step["id"])
            if step["kind"] == "tool_call":
                self._called.note(
                    (session.key, step["call_id"]), {"parent": step["id"], "tool": step["tool"]}
                )
            elif step["kind"] == "tool_result":
                if place in self._seen:
                    continue
                self._seen.note(place, None)
                step.update(self._called.get((session.key, step["call_id"]), {}))
            found.append(step)
        return found

    def _session(self, exchange: Exchange) -> Session:
        caller = exchange.caller
        key = self.key_of(caller)
        found = self._open.get(key)
        if found is None:
            name = caller.name or caller.session or self._name or name_of(exchange) or self._unnamed
            found = self._open[key] = _Open(self._machine.session(**self._options(key, caller, name)), 0.0)
        found.used_at = time.monotonic()
        return found.session

    def _options(self, key: str, caller: Caller, name: str) -> JsonObject:
        """Return the options with which a session begins."""
        is_named = caller.session is not None
        metadata = {"recorded_by": "timemachine proxy"}
        if self._by_api_key and not is_named and caller.key_hash:
            metadata["api_key_sha256"] = caller.key_hash
        return {
            "name": name,
            "key": key,
            "agent": caller.agent,
            "user": caller.user,
            "parent": caller.parent_session,
            "metadata": metadata,
            "end": not is_named,
        }

    def _release_idle(self) -> None:
        """Forget sessions of headers that had no call for long; the next call continues them."""
        now = time.monotonic()
        if now - self._looked_at < _IDLE_SECONDS / 10:
            return
        self._looked_at = now
        own = self._key
        idle = [
            key
            for key, each in self._open.items()
            if now - each.used_at > _IDLE_SECONDS and not key.startswith(own)
        ]
        for key in idle:  # waits for the delivery
            threading.Thread(target=self._open.pop(key).session.end, daemon=True).start()

    def _lose(self, why: Exception) -> None:
        with self._lock:
            self.lost += 1
            is_first = self.lost == 1
        if is_first:
            log.error("A call was not recorded (%s: %s). Further ones are counted.", type(why).__name__, why)
