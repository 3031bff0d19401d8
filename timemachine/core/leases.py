"""Leases: how a worker takes a row of work, keeps it while it works, writes to it, and releases it.

PostgreSQL knows what there is to do; the queue only wakes workers. A message can be lost or delivered twice, and a
worker can be killed at any point. So a worker claims a row for `LEASE_SECONDS` and extends that from a thread while it
works. If it dies, the lease expires and another worker takes the row. Every claim has a new token, and every write
names it: a worker that slept past its lease can no longer write.

A table of work inherits from `Leased`. A table whose rows are enqueued also inherits from `Enqueued`, so that a row is
not enqueued again while its message is still waiting. `timemachine.core.jobs` declares the jobs that work on such rows.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final, Self
from uuid import UUID, uuid4

from django.conf import settings
from django.db import Error, connection, connections, models, transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.timers import heartbeat

log = logging.getLogger(__name__)

MOST_ATTEMPTS: Final = 3
"""How many workers may be lost at one row before it counts as failed. The domain counts, as only it knows what progress
is.
"""
ENQUEUE_AGAIN_AFTER: Final = timedelta(seconds=15)
"""How long a message may wait in the queue before the sweep sends another one."""
PROGRESS_INTERVAL: Final = 1.0
"""Seconds between two writes of the progress."""
FREE: Final = "(lease_until IS NULL OR lease_until < %(now)s)"
TAKE: Final = "lease_token = %(token)s, lease_until = %(until)s"
"""`FREE` and `TAKE` are what `claim` does, for a statement that claims many rows together with other writes; `claim_facts` has their values."""


class LeaseLost(Exception):
    """Another worker has the row now, or nobody may work on it any more. Nothing was written."""


class Leased(models.Model):
    """A row that one worker at a time works on. It is free if it has no lease, or an expired one."""

    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class Enqueued(models.Model):
    """A row with messages in the queue. `enqueued_at` is when the last one was sent that no claim has answered yet."""

    enqueued_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class Measured(models.Model):
    """A row of work that shows how far it is: `done` of `total` parts; `total` is None until it is known."""

    total = models.BigIntegerField(null=True)
    done = models.BigIntegerField(default=0)

    class Meta:
        abstract = True


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far the work on a `Measured` row is. The worker counts here, and the thread that extends its lease writes it."""

    done: int = 0
    total: int | None = None

    def columns(self) -> dict[str, object]:
        return {"done": self.done, "total": self.total}


class ProjectWork(Leased, Enqueued):
    """One kind of work on a project, done by one worker at a time. The row is created when it is needed."""

    project = models.OneToOneField(Project, on_delete=models.DB_CASCADE, primary_key=True, related_name="+")

    class Meta:
        abstract = True

    @classmethod
    def of(cls, projects: Collection[UUID]) -> QuerySet[Self]:
        """Return the rows of these projects."""
        missing = [cls(project_id=each) for each in projects]
        cls._default_manager.bulk_create(missing, ignore_conflicts=True)
        return cls._default_manager.filter(pk__in=projects)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease[Row: Leased]:
    """The right to write one row until the lease expires or is ended."""

    model: type[Row]
    pk: Any
    token: UUID

    def held(self) -> QuerySet[Row]:
        """Return a queryset of the row, empty if the lease is lost. A write to it that changes no row came too late."""
        return self.model._base_manager.filter(pk=self.pk, lease_token=self.token)

    def row(self, *related: str) -> Row:
        """Return the row with these related ones. Raises `LeaseLost`."""
        row = self.held().select_related(*related).first() if related else self.held().first()
        if row is None:
            raise LeaseLost
        return row

    def locked(self) -> Row:
        """Return the row, locked until the transaction ends. Raises `LeaseLost`."""
        row = self.held().select_for_update().first()
        if row is None:
            raise LeaseLost
        return row

    def write(self, **changes: Any) -> None:
        """Update the row and extend the lease, or raise `LeaseLost`. Call it at the end of a transaction, so that
        `LeaseLost` undoes all of it.
        """
        if not self.held().update(lease_until=expiry(), **changes):
            raise LeaseLost

    def release(self, **changes: Any) -> bool:
        """Update the row and release it. Return False, without a change, if the lease is lost."""
        return bool(clear(self.held(), **changes))


def expiry() -> datetime:
    """Return when a lease that is taken or extended now expires."""
    return now() + timedelta(seconds=settings.LEASE_SECONDS)


def clear(rows: QuerySet[Any, Any], **changes: Any) -> int:
    """Update these rows and end their leases, so that workers can no longer write to them. Return their number."""
    return rows.update(lease_token=None, lease_until=None, **changes)


def is_free() -> Q:
    """Return the condition that no worker holds a row."""
    return Q(lease_until=None) | Q(lease_until__lt=now())


def claim_facts() -> dict[str, Any]:
    """Return the values that `FREE` and `TAKE` name, with a new token."""
    moment = now()
    return {"now": moment, "token": uuid4(), "until": moment + timedelta(seconds=settings.LEASE_SECONDS)}


def since_the_first_claim() -> Coalesce:
    """Return the value of a column `began_at`: when a row was claimed for the first time. Until then it only waited."""
    return Coalesce(F("began_at"), Value(now()))


def claim[Row: Leased](rows: QuerySet[Row], **changes: Any) -> Lease[Row] | None:
    """Lease the first free one of these rows and update it. Return None if none is free. Locked rows are skipped."""
    model, facts = rows.model, claim_facts()
    if issubclass(model, Enqueued):
        changes.setdefault("enqueued_at", None)
    with transaction.atomic():
        free = rows.filter(is_free()).select_for_update(skip_locked=True, of=("self",), no_key=True)
        pk = free.values_list("pk", flat=True).first()
        if pk is None:
            return None
        taken = {"lease_token": facts["token"], "lease_until": facts["until"]}
        model._base_manager.filter(pk=pk).update(**taken, **changes)
    return Lease(model=model, pk=pk, token=facts["token"])


@contextmanager
def holding[Row: Leased](
    rows: QuerySet[Row], *, progress: Progress | None = None, **changes: Any
) -> Iterator[Lease[Row] | None]:
    """Claim one of these rows while the block runs, and release it afterwards. The block gets None if none is free.

    `progress`, of `Measured` rows, is written every second, through a separate connection, and at the end.

    If the block raises, the lease expires, just as if the worker had died: the row is retried, but not immediately.
    `LeaseLost` ends the block and is not raised further.
    """
    columns = progress.columns if progress else dict[str, object]
    lease = claim(rows, **changes, **columns())
    if lease is None:
        yield None
        return
    try:
        with keep_alive(lease, every=PROGRESS_INTERVAL if progress else None, progress=columns):
            yield lease
    except LeaseLost:
        log.info("%s %s was taken over by another worker", lease.model._meta.verbose_name, lease.pk)
        return
    lease.release(**columns())


def keep_alive[Row: Leased](
    lease: Lease[Row], *, every: float | None = None, progress: Callable[[], Mapping[str, Any]] = dict
) -> AbstractContextManager["LeaseKeeper"]:
    """Extend a lease while the block runs. `progress` returns more values to write each time."""
    keeper = LeaseKeeper(lease.held(), progress)
    keeper.keep(lease.token)
    return keeper.beating(every)


class LeaseKeeper:
    """Extends leases of one table from one thread, for as long as they are kept: a model call can take minutes."""

    def __init__(self, rows: QuerySet[Any, Any], progress: Callable[[], Mapping[str, Any]] = dict) -> None:
        self._rows, self._progress = rows, progress
        self._kept: Counter[UUID] = Counter()
        self._lock = Lock()

    def keep(self, token: UUID) -> None:
        """Extend the leases with this token until `let_go` was called as often as `keep`."""
        with self._lock:
            self._kept[token] += 1

    def let_go(self, token: UUID) -> None:
        """Undo one `keep`."""
        with self._lock:
            self._kept[token] -= 1
            if not self._kept[token]:
                del self._kept[token]

    @contextmanager
    def keeping(self, token: UUID) -> Iterator[None]:
        """Keep the leases of this token while the block runs."""
        self.keep(token)
        try:
            yield
        finally:
            self.let_go(token)

    @contextmanager
    def beating(self, every: float | None = None) -> Iterator["LeaseKeeper"]:
        """Extend the kept leases while the block runs, in a thread, four times per lease or every so many seconds."""
        seconds = settings.LEASE_SECONDS / 4 if every is None else every
        # its thread has connections of its own
        with heartbeat(self.beat, every=seconds, at_end=connections.close_all):
            yield self

    def beat(self) -> None:
        """Extend the leases that are kept now and still held."""
        with self._lock:
            tokens = list(self._kept)
        try:
            self._extend(tokens)
        except Error as why:
            # the thread must not end: other workers would take the rows and repeat their model calls
            log.warning("leases could not be extended; retrying: %s", why)
            connection.close()

    def _extend(self, tokens: Sequence[UUID]) -> None:
        held = self._rows.filter(lease_token__in=tokens)
        with briefly():
            # a row that is being written right now is skipped: it no longer needs the lease
            locked = held.select_for_update(skip_locked=True, no_key=True).order_by("pk")
            pks = list(locked.values_list("pk", flat=True))
            self._rows.model._base_manager.filter(pk__in=pks).update(lease_until=expiry(), **self._progress())


@contextmanager
def briefly() -> Iterator[None]:
    """Run a transaction that the database ends if this process sleeps in it for as long as a lease, as others wait for
    its locks.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            milliseconds = str(int(settings.LEASE_SECONDS * 1000))
            cursor.execute(
                "SELECT set_config('idle_in_transaction_session_timeout', %s, true)", [milliseconds]
            )
        yield


def mark_enqueued(rows: QuerySet[Any, Any], *, key: str = "pk", at_start: bool = False) -> list[Any]:
    """Mark those of these `Enqueued` rows that need a message, and return their `key` values.

    A row needs none while a worker holds it, or while a message of the last `ENQUEUE_AGAIN_AFTER` may still be waiting.
    With `at_start` (a worker has just started) such messages do not count: they may have been lost with the previous
    worker.
    """
    model, moment = rows.model, now()
    if issubclass(model, Leased):
        rows = rows.filter(is_free())
    if not at_start:
        rows = rows.filter(Q(enqueued_at=None) | Q(enqueued_at__lt=moment - ENQUEUE_AGAIN_AFTER))
    with transaction.atomic():
        locked = rows.select_for_update(skip_locked=True, of=("self",), no_key=True)
        found = dict(locked.values_list("pk", key))
        model._base_manager.filter(pk__in=list(found)).update(enqueued_at=moment)
    return list(dict.fromkeys(found.values()))
