"""Beat, which sends the periodic jobs. Any number of them may run; the one that holds a lock in PostgreSQL sends."""

import logging
from typing import Any, Final

import psycopg
from celery import bootsteps
from celery.beat import EmbeddedService, PersistentScheduler, SchedulingError
from django.db import connection

log = logging.getLogger(__name__)

ASK_EVERY: Final = 3
"""Seconds after which beat makes sure that it holds the lock, or asks for it again."""
SILENT_FOR: Final = 12
"""Seconds after which PostgreSQL ends the connection of a beat that does not ask, because it was stopped or cut off."""
_LOCK: Final = "SELECT pg_try_advisory_lock(hashtextextended('beat', 0))"


class BeatLock:
    """The lock of the beat that sends. It belongs to a connection, so it is free as soon as its holder was killed."""

    def __init__(self) -> None:
        self._connection: psycopg.Connection[Any] | None = None
        self._held = False

    def held(self) -> bool:
        """Return whether this process may send: it takes the lock if that is free, and makes sure that it still has it."""
        had = self._held
        try:
            self._held = self._ask()
        except psycopg.Error as why:
            if had:
                log.warning("beat has lost its lock: %s", str(why).partition("\n")[0])
            self.release()
        if self._held and not had:
            log.info("this beat sends the periodic jobs now")
        return self._held

    def release(self) -> None:
        """Let another beat take it."""
        self._held = False
        if self._connection:
            self._connection.close()
        self._connection = None

    def _ask(self) -> bool:
        if self._connection is None:
            parameters = {
                "connect_timeout": ASK_EVERY,
                **connection.get_connection_params(),
                "autocommit": True,
            }
            self._connection = psycopg.connect(**parameters)
            self._connection.execute(f"SET idle_session_timeout = '{SILENT_FOR}s'")
        if self._held:
            self._connection.execute("SELECT 1")
            return True
        row = self._connection.execute(_LOCK).fetchone()
        return row == (True,)


class Scheduler(PersistentScheduler):
    """Celery's schedule, which this process follows only while it is the only one."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._lock = BeatLock()
        super().__init__(*args, **options)

    def tick(self, *args: Any, **options: Any) -> float:
        """Send what is due, and return after how many seconds to call it again."""
        wait: float = self.max_interval or ASK_EVERY
        if self._lock.held():
            wait = min(wait, super().tick(*args, **options))
        return min(wait, ASK_EVERY)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send a job, or log in one line why that failed; it is due again after its interval."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as why:
            log.warning("beat cannot send %s: %s", entry.name, str(why).partition("\n")[0])

    def close(self) -> None:
        """Release the lock."""
        self._lock.release()
        super().close()


class BeatThread(bootsteps.StartStopStep):
    """Starts and stops beat with the worker, if it was started with `--beat-thread`. Celery's own `-B` forks a process,
    which takes another 70 MB.
    """

    def __init__(self, worker: Any, *, beat_thread: bool = False, **options: Any) -> None:
        super().__init__(worker, **options)
        self.enabled = beat_thread

    def create(self, worker: Any) -> Any:
        """Return the thread."""
        return EmbeddedService(
            worker.app, thread=True, schedule_filename=worker.schedule_filename, scheduler_cls=Scheduler
        )
