"""Deliver spooled sessions in batches, and retry later if the server is unreachable or busy."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Final

from timemachine.client.errors import ClientError, NoServer, Refused
from timemachine.client.recording.outbox import Outbox, is_busy, is_temporary
from timemachine.client.recording.recording import Recording, Shortfall
from timemachine.client.recording.spool import Spool, spools_in, waits_in
from timemachine.client.recording.traces import outbox_of
from timemachine.core.pure.json_types import JsonObject

if TYPE_CHECKING:  # importing httpx takes a third of a second
    from timemachine.client.connection import Connection

log = logging.getLogger(__name__)
_random = SystemRandom()  # threads that deliver do not touch the random numbers of the program

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 30.0  # seconds between attempts while the server is unreachable
_LASTING_PAUSE: Final = 60.0  # and while it refuses
_ADOPT_EVERY: Final = 300.0
_LOCKED_PAUSE: Final = 0.01  # maximum seconds before a second attempt at a locked spool, which may have been locked only for a look


class Delivery:
    """The outboxes and the spool of one recorder. `unreachable` is why the server cannot be reached now, or None.

    `tried_at` (monotonic clock) is the start of the last failed attempt. `connect` raises `NoServer` if no server is known; `mine`
    says whether the recording of an ended process is for this server and key. A delivery that `is_closed` adopts nothing.
    """

    def __init__(
        self,
        connect: "Callable[[], Connection]",
        mine: Callable[[JsonObject], bool],
        folder: Path,
        *,
        sync: bool = False,
    ) -> None:
        self.unreachable: ClientError | None = None
        self.adopted = Shortfall()
        self.tried_at = 0.0
        self._unreachable_since = 0.0
        self._connect = connect
        self._mine = mine
        self._folder = folder
        self._sync = sync
        self._outboxes: list[Outbox] = []
        self._changes = threading.Condition()
        self._adopts = threading.Lock()
        self.beginning = threading.Lock()
        """Locked during the first request, which imports modules: a child forked in between could never import them."""
        self._connection: Connection | None = None
        self._retry_at = 0.0
        self._pause = _FIRST_PAUSE
        self._adopted_at: float | None = None
        self.is_closed = False
        self._spool: Spool | None = None
        self._taken: list[tuple[Spool, list[Outbox]]] = []
        self._opening = threading.Lock()
        self._released: list[tuple[Outbox, Path, int]] = []

    def spool(self) -> Spool:
        """The database that this recorder writes, created if needed. Raises `OSError`."""
        with self._opening:
            if self._spool is None or self._spool.is_closed:
                self._spool = Spool.begin(self._folder, sync=self._sync)
            return self._spool

    def add(self, outbox: Outbox) -> None:
        """Deliver this outbox too, after what was released before."""
        while not self._is_added(outbox):
            self.adopt()

    def _is_added(self, outbox: Outbox) -> bool:
        with self._changes:
            if not self.is_closed and not outbox.listed:
                outbox.listed = True
                self._outboxes.append(outbox)
                self._changes.notify()
            return outbox.listed

    def outboxes(self) -> list[Outbox]:
        """The outboxes that are being delivered."""
        with self._changes:
            return list(self._outboxes)

    @property
    def unreachable_for(self) -> float:
        """Seconds since the server became unreachable; 0 if it is reachable or busy."""
        return (
            0.0
            if self.unreachable is None or is_busy(self.unreachable)
            else time.monotonic() - self._unreachable_since
        )

    def wake(self) -> None:
        """Wake up the delivery: something was spooled."""
        with self._changes:
            self._changes.notify()

    def retry_now(self) -> None:
        """Retry now."""
        with self._changes:
            self._retry_at, self._pause = 0.0, _FIRST_PAUSE
            for each in self._outboxes:
                each.try_again()
            self._changes.notify()

    def adopt(self) -> None:
        """Adopt the spools of ended processes for this server and key."""
        self.is_closed = False
        self._take_over()

    def _take_over(self) -> None:
        with self._adopts:
            own = {self._spool.path if self._spool else None, *(spool.path for spool, _ in self._taken)}
            others = [path for path in spools_in(self._folder) if path not in own]
            locked = [path for path in others if not self._is_examined(path)]
            if locked:
                time.sleep(_random.uniform(0, _LOCKED_PAUSE))
            for path in locked:
                self._is_examined(path)

    def _is_examined(self, path: Path) -> bool:
        """Adopt a spool that no process has; False if a process has it."""
        try:
            spool = Spool.take_over(path)
            recordings = spool.stored() if spool else []
        except OSError as why:
            log.debug("Cannot adopt the spool %s: %s", path, why)
            return True
        if spool is None:
            return not path.exists()
        adopted = [
            outbox_of(Recording.of(spool, each), shortfall=Shortfall(self.adopted), adopted=True)
            for each in recordings
            if not each.is_refused and self._mine(each.header)
        ]
        if not adopted or not self._is_adopted(spool, adopted):
            spool.close()
        return True

    def _is_adopted(self, spool: Spool, outboxes: list[Outbox]) -> bool:
        """Deliver the outboxes of a spool before our own, unless this was closed in the meantime."""
        with self._changes:
            if not self.is_closed:
                older = sum(each.adopted for each in self._outboxes)
                self._outboxes[older:older] = outboxes
                self._taken.append((spool, outboxes))
            return not self.is_closed

    def close(self) -> None:
        """Release the spools; the next process delivers what they contain."""
        with self._changes:
            outboxes, self._outboxes = self._outboxes, []
            taken, self._taken = self._taken, []
            self.is_closed = True
            for each in outboxes:
                each.listed = False
        rests = [(each, each.release()) for each in outboxes]
        with self._opening:
            own, self._spool = self._spool, None
        for spool in [*([own] if own else []), *(spool for spool, _ in taken)]:
            spool.close()
        self._released += [(outbox, *rest) for outbox, rest in rests if rest]

    def waits(self, outbox: Outbox | None = None) -> bool:
        """Whether something that a close released is still undelivered, of one session or of all."""
        with self._adopts:  # looking at a spool locks it against adoption
            self._released = [each for each in self._released if waits_in(*each[1:])]
        return any(outbox is None or each[0] is outbox for each in self._released)

    def work(self) -> None:
        """Deliver forever."""
        while True:
            try:
                pause = self.step()
            except Exception:  # the delivering thread must not end
                log.exception("The recorder failed to deliver. It will retry.")
                pause = _LONGEST_PAUSE
            if pause > 0:
                with self._changes:
                    self._changes.wait(pause)

    def step(self) -> float:
        """Deliver one batch of each session that is due, and return the seconds until the next attempt."""
        now = time.monotonic()
        is_due = self._adopted_at is None or now - self._adopted_at > _ADOPT_EVERY
        if is_due and not self.is_closed:
            self._adopted_at = now
            self._take_over()
        if now < self._retry_at:
            return self._retry_at - now
        worked = False
        due = list(self._due(now))
        for outbox in (each for each in due if each.has_work):  # some may have been released in the meantime
            tried_at = time.monotonic()
            try:
                self._deliver(outbox)
            except ClientError as why:
                self._failed(outbox, why, tried_at)
                if self.unreachable is not None:
                    break
            except Exception:  # one failing session must not block the others
                log.exception("Session %s could not be delivered. It will be retried.", outbox.key)
                outbox.not_before = time.monotonic() + _LASTING_PAUSE
            else:
                worked = True
                self._reached()
        self._release_finished()
        return 0.0 if worked else self._rest()

    def _due(self, now: float) -> Iterator[Outbox]:
        """The sessions that are due; of several with the same key, the oldest goes first."""
        keys = set()
        for outbox in self.outboxes():
            if outbox.has_work and outbox.key not in keys:
                if outbox.stuck is None:
                    keys.add(outbox.key)
                if outbox.not_before <= now:
                    yield outbox

    def _rest(self) -> float:
        now = time.monotonic()
        waits = [max(each.not_before, self._retry_at) - now for each in self.outboxes() if each.has_work]
        return min([max(0.0, each) for each in waits], default=_ADOPT_EVERY)

    def _reached(self) -> None:
        """Note that the server is reachable, and log it if it was not."""
        if self.unreachable is not None and not is_busy(self.unreachable):
            log.warning("The server is reachable again. Recordings in %s are being delivered.", self._folder)
        self.unreachable, self._pause = None, _FIRST_PAUSE

    def _failed(self, outbox: Outbox, why: ClientError, tried_at: float) -> None:
        if is_temporary(why) or isinstance(why, NoServer):
            if (self.unreachable is None or is_busy(self.unreachable)) and not is_busy(why):
                self._unreachable_since = time.monotonic()
                log.warning("Recordings wait in %s: %s", self._folder, why.message)
            self.unreachable, self.tried_at = why, tried_at
            retry_after = why.retry_after if isinstance(why, Refused) else None
            pause = self._pause / 2 if retry_after is None else retry_after
            self._retry_at = time.monotonic() + pause + _random.uniform(0, self._pause / 2)
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        else:
            outbox.not_before = time.monotonic() + _LASTING_PAUSE * _random.uniform(0.9, 1.1)
            outbox.complain(why)

    def _release_finished(self) -> None:
        """Release the finished sessions, and the adopted spools that contain no others."""
        with self._changes:
            for each in [
                each for each in self._outboxes if each.is_finished and each.recording.save_refusals()
            ]:
                self._outboxes.remove(each)
                each.listed = False
            finished = [spool for spool, outboxes in self._taken if not set(outboxes) & set(self._outboxes)]
            self._taken = [each for each in self._taken if each[0] not in finished]
        for spool in finished:
            spool.close()

    def _deliver(self, outbox: Outbox) -> None:
        if self._connection is not None:
            outbox.deliver(self._connection, may_end=lambda: not self.waits(outbox))
            return
        with self.beginning:
            connection = self._connect()
            try:
                outbox.deliver(connection, may_end=lambda: not self.waits(outbox))
            except BaseException:
                connection.close()
                raise
        self._connection = connection
        self._adopted_at = None  # only now is it known which spools are for this server
