"""Deliver what waits in spools: session by session, batch by batch, later where the server is away or busy."""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from timemachine.client.errors import ClientError, NoServer, Refused
from timemachine.client.recording.outbox import Outbox, is_busy, is_passing
from timemachine.client.recording.recording import Recording
from timemachine.client.recording.shortfall import Shortfall
from timemachine.client.recording.spool import Spool, spools_in, waits_in

if TYPE_CHECKING:  # its HTTP client takes a third of a second
    from timemachine.client.connection import Connection

log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 30.0  # seconds between two attempts at a server that is away
_LASTING_PAUSE: Final = 60.0  # and at one that refuses
_ADOPT_EVERY: Final = 300.0
_LOCKED_PAUSE: Final = (
    0.01  # seconds at most before a second look at what somebody had locked, who perhaps only looked, too
)


class Delivery:
    """The outboxes of one recorder, and its spool. `away` is why the server cannot be had at this moment; one that `is_closed` takes nothing over.

    `tried_at`, by the monotonic clock, is when the last attempt began that found no server.
    `connect` raises `NoServer` while none is known; `mine` says whether a recording of a process that has ended is for this server and key.
    """

    def __init__(
        self,
        connect: "Callable[[], Connection]",
        mine: Callable[[dict[str, Any]], bool],
        folder: Path,
        *,
        sync: bool = False,
    ) -> None:
        self.away: ClientError | None = None
        self.adopted = Shortfall()
        self.tried_at = 0.0
        self._away_since = 0.0
        self._connect = connect
        self._mine = mine
        self._folder = folder
        self._sync = sync
        self._outboxes: list[Outbox] = []
        self._changes = threading.Condition()
        self._adopts = threading.Lock()
        self.beginning = threading.Lock()
        """Held while the first request is made, which imports: a child forked meanwhile could never import the same."""
        self._connection: Connection | None = None
        self._away_until = 0.0
        self._pause = _FIRST_PAUSE
        self._adopted_at: float | None = None
        self.is_closed = False
        self._spool: Spool | None = None
        self._taken: list[tuple[Spool, list[Outbox]]] = []
        self._opening = threading.Lock()
        self._released: list[tuple[Outbox, Path, int]] = []

    def spool(self) -> Spool:
        """The database that this recorder writes, begun where there is none. Raises `OSError`."""
        with self._opening:
            if self._spool is None or self._spool.is_closed:
                self._spool = Spool.begin(self._folder, sync=self._sync)
            return self._spool

    def add(self, outbox: Outbox) -> None:
        """Deliver what this one gets, too; after what was let go before and waits, also where it is let go at this moment."""
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
        """Those that something may still come from."""
        with self._changes:
            return list(self._outboxes)

    @property
    def away_for(self) -> float:
        """Seconds since the server could last be had; 0 while it can, and while it is there and says when to come again."""
        return 0.0 if self.away is None or is_busy(self.away) else time.monotonic() - self._away_since

    def news(self) -> None:
        """Something was spooled."""
        with self._changes:
            self._changes.notify()

    def nudge(self) -> None:
        """Try now, although it did not go just before."""
        with self._changes:
            self._away_until, self._pause = 0.0, _FIRST_PAUSE
            for each in self._outboxes:
                each.try_again()
            self._changes.notify()

    def adopt(self) -> None:
        """Take over the spools of processes that have ended, if what they recorded is for this server and key."""
        self.is_closed = False
        self._take_over()

    def _take_over(self) -> None:
        with self._adopts:
            own = {self._spool.path if self._spool else None, *(spool.path for spool, _ in self._taken)}
            others = [path for path in spools_in(self._folder) if path not in own]
            locked = [path for path in others if not self._is_looked_at(path)]
            if locked:
                time.sleep(random.uniform(0, _LOCKED_PAUSE))  # noqa: S311
            for path in locked:
                self._is_looked_at(path)

    def _is_looked_at(self, path: Path) -> bool:
        """Take over a spool that nobody has; False where somebody has it."""
        try:
            spool = Spool.take_over(path)
            recordings = spool.stored() if spool else []
        except OSError as why:
            log.debug("The spool %s cannot be taken over: %s", path, why)
            return True
        if spool is None:
            return not path.exists()
        adopted = [
            Outbox(Recording.of(spool, each), shortfall=Shortfall(self.adopted), adopted=True)
            for each in recordings
            if not each.is_refused and self._mine(each.header)
        ]
        if not adopted or not self._is_adopted(spool, adopted):
            spool.close()
        return True

    def _is_adopted(self, spool: Spool, outboxes: list[Outbox]) -> bool:
        """Deliver what a spool holds, before what is recorded here; not where this was closed meanwhile."""
        with self._changes:
            if not self.is_closed:
                older = sum(each.adopted for each in self._outboxes)
                self._outboxes[older:older] = outboxes
                self._taken.append((spool, outboxes))
            return not self.is_closed

    def close(self) -> None:
        """Let go of the spools: what waits in them is for the next process."""
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
        """Whether something still waits that a close let go of, of one session or of all."""
        with self._adopts:  # a look at it keeps others from taking it over
            self._released = [each for each in self._released if waits_in(*each[1:])]
        return any(outbox is None or each[0] is outbox for each in self._released)

    def work(self) -> None:
        """Deliver, for ever."""
        while True:
            try:
                pause = self.step()
            except Exception:
                log.exception("The recorder could not deliver; it tries again.")
                pause = _LONGEST_PAUSE
            if pause > 0:
                with self._changes:
                    self._changes.wait(pause)

    def step(self) -> float:
        """Deliver one batch of each session that is due; the seconds after which to look again if nothing happens."""
        now = time.monotonic()
        is_due = self._adopted_at is None or now - self._adopted_at > _ADOPT_EVERY
        if is_due and not self.is_closed:
            self._adopted_at = now
            self._take_over()
        if now < self._away_until:
            return self._away_until - now
        worked = False
        due = list(self._due(now))
        for outbox in (each for each in due if each.has_work):  # some may have been let go meanwhile
            tried_at = time.monotonic()
            try:
                self._deliver(outbox)
            except ClientError as why:
                self._failed(outbox, why, tried_at)
                if self.away is not None:
                    break
            except Exception:  # one session that cannot be sent keeps no other waiting
                log.exception("Session %s could not be delivered; it is tried again.", outbox.key)
                outbox.not_before = time.monotonic() + _LASTING_PAUSE
            else:
                worked = True
                self._reached()
        self._let_go()
        return 0.0 if worked else self._rest()

    def _due(self, now: float) -> Iterator[Outbox]:
        """Sessions with something to deliver; one of the same key that is older goes first."""
        keys = set()
        for outbox in self.outboxes():
            if outbox.has_work and outbox.key not in keys:
                if outbox.stuck is None:
                    keys.add(outbox.key)
                if outbox.not_before <= now:
                    yield outbox

    def _rest(self) -> float:
        now = time.monotonic()
        waits = [max(each.not_before, self._away_until) - now for each in self.outboxes() if each.has_work]
        return min([max(0.0, each) for each in waits], default=_ADOPT_EVERY)

    def _reached(self) -> None:
        """The server took something; where it was said to be away, it is said that it is back."""
        if self.away is not None and not is_busy(self.away):
            log.warning("The server is back, and what waits in %s is delivered.", self._folder)
        self.away, self._pause = None, _FIRST_PAUSE

    def _failed(self, outbox: Outbox, why: ClientError, tried_at: float) -> None:
        if is_passing(why) or isinstance(why, NoServer):
            if (self.away is None or is_busy(self.away)) and not is_busy(why):
                self._away_since = time.monotonic()
                log.warning("What is recorded waits in %s: %s", self._folder, why.message)
            self.away, self.tried_at = why, tried_at
            asked = why.retry_after if isinstance(why, Refused) else None
            wanted = self._pause / 2 if asked is None else asked
            self._away_until = time.monotonic() + wanted + random.uniform(0, self._pause / 2)  # noqa: S311
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        else:
            outbox.not_before = time.monotonic() + _LASTING_PAUSE * random.uniform(0.9, 1.1)  # noqa: S311
            outbox.complain(why)

    def _let_go(self) -> None:
        """Let go of the sessions that are over, unless more came just now, and of the spools in which nothing of the others is."""
        with self._changes:
            for each in [each for each in self._outboxes if each.is_over and each.recording.save_refusals()]:
                self._outboxes.remove(each)
                each.listed = False
            over = [spool for spool, outboxes in self._taken if not set(outboxes) & set(self._outboxes)]
            self._taken = [each for each in self._taken if each[0] not in over]
        for spool in over:
            spool.close()

    def _deliver(self, outbox: Outbox) -> None:
        if self._connection is not None:
            outbox.deliver(self._connection, may_end=lambda: not self.waits(outbox))
            return
        with self.beginning:
            connection = self._connect()
            outbox.deliver(connection, may_end=lambda: not self.waits(outbox))
        self._connection = connection
        self._adopted_at = None  # it was not known before which spools are for it
