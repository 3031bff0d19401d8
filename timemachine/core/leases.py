"""Leases: how a worker takes a row of work, keeps it while it works, writes to it and lets it go.

PostgreSQL knows what there is to do; the queue only wakes a worker up. A message may be lost or delivered twice, and a worker may be
killed at any point. So a worker claims a row for `LEASE_SECONDS` and extends that from a thread while it works. When it dies, the lease
expires and another worker takes the row over. Every claim has a new token, and every write names it: a worker that slept past its
lease cannot write any more.

A table of work inherits from `Leased`. A table whose rows are enqueued inherits from `Enqueued` too, so that a row is not enqueued
again while its message is still waiting. `timemachine.core.jobs` declares what is done with such rows.
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
from django.db.models import Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.heartbeat import heartbeat

log = logging.getLogger(__name__)

MOST_ATTEMPTS: Final = 3
"""How many workers may be lost at one row before it counts as failed. The domain counts, as only it knows what progress is."""
ENQUEUE_AGAIN_AFTER: Final = timedelta(seconds=15)
"""How long a message may wait in the queue before the sweep sends another one."""
FREE: Final = "(lease_until IS NULL OR lease_until < %(now)s)"
TAKE: Final = "lease_token = %(token)s, lease_until = %(until)s"
"""`FREE` and `TAKE` are what `claim` does, for a statement that claims many rows together with other writes; `claim_facts` has their values."""


class LeaseLost(Exception):
    """Another worker has the row now, or nobody may work on it any more; nothing was written."""


class Leased(models.Model):
    """A row that one worker at a time works on. It is free if it has no lease, or an expired one."""

    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class Enqueued(models.Model):
    """A row that a message in the queue is about. `enqueued_at` is when the last one was sent that no worker has answered by a claim."""

    enqueued_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class ProjectWork(Leased, Enqueued):
    """One kind of work on a whole project, which one worker at a time does. The row is made when it is needed."""

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
    """The right to write one row until the lease expires or somebody ends it."""

    model: type[Row]
    pk: Any
    token: UUID

    def held(self) -> QuerySet[Row]:
        """Return the row as long as the lease holds, else no row: a write to it that changes nothing came too late."""
        return self.model._base_manager.filter(pk=self.pk, lease_token=self.token)

    def row(self, *related: str) -> Row:
        """Return the row, together with these related ones.

        Raises:
            LeaseLost: The lease does not hold any more.
        """
        row = self.held().select_related(*related).first() if related else self.held().first()
        if row is None:
            raise LeaseLost
        return row

    def locked(self) -> Row:
        """Return the row, locked until the transaction ends.

        Raises:
            LeaseLost: The lease does not hold any more.
        """
        row = self.held().select_for_update().first()
        if row is None:
            raise LeaseLost
        return row

    def write(self, **changes: Any) -> None:
        """Update the row and extend the lease. At the end of a transaction, so that `LeaseLost` undoes all of it.

        Raises:
            LeaseLost: The lease does not hold any more.
        """
        if not self.held().update(lease_until=expiry(), **changes):
            raise LeaseLost

    def release(self, **changes: Any) -> bool:
        """Update the row and let go of it; return False, without a change, if the lease does not hold any more."""
        return bool(self.held().update(lease_token=None, lease_until=None, **changes))


def expiry() -> datetime:
    """Return when a lease that is taken or extended now expires."""
    return now() + timedelta(seconds=settings.LEASE_SECONDS)


def is_free() -> Q:
    """Return the condition that nobody holds a row."""
    return Q(lease_until=None) | Q(lease_until__lt=now())


def claim_facts() -> dict[str, Any]:
    """Return the values that `FREE` and `TAKE` name, with a new token."""
    moment = now()
    return {
        "now": moment,
        "token": uuid4(),
        "until": moment + timedelta(seconds=settings.LEASE_SECONDS),
    }


def claim[Row: Leased](rows: QuerySet[Row], **changes: Any) -> Lease[Row] | None:
    """Lease the first of these rows that is free and update it; None if there is none. Rows that others lock are skipped."""
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
def holding[Row: Leased](rows: QuerySet[Row], **changes: Any) -> Iterator[Lease[Row] | None]:
    """Claim one of these rows while the block runs and release it afterwards. The block gets None if none is free.

    A block that raises leaves the lease to expire, just as a worker that dies does: the row is tried again, but not immediately.
    `LeaseLost` ends the block and goes no further.
    """
    lease = claim(rows, **changes)
    if lease is None:
        yield None
        return
    try:
        with kept_alive(lease):
            yield lease
    except LeaseLost:
        log.info("%s %s was taken over by another worker", lease.model._meta.verbose_name, lease.pk)
        return
    lease.release()


def kept_alive[Row: Leased](
    lease: Lease[Row], *, every: float | None = None, progress: Callable[[], Mapping[str, Any]] = dict
) -> AbstractContextManager["Keeper"]:
    """Extend a lease while the block runs. `progress` says what else is written each time (every so many seconds)."""
    keeper = Keeper(lease.held(), progress)
    keeper.keep(lease.token)
    return keeper.beating(every)


class Keeper:
    """Extends leases of one table from one thread, for as long as somebody keeps them: a call of a model may take minutes."""

    def __init__(self, rows: QuerySet[Any, Any], progress: Callable[[], Mapping[str, Any]] = dict) -> None:
        self._rows, self._progress = rows, progress
        self._kept: Counter[UUID] = Counter()
        self._lock = Lock()

    def keep(self, token: UUID) -> None:
        """Extend the leases of this token until they were let go as often as they were kept."""
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
    def beating(self, every: float | None = None) -> Iterator["Keeper"]:
        """Extend what is kept while the block runs, in a thread of its own: four times per lease, or every so many seconds."""
        seconds = settings.LEASE_SECONDS / 4 if every is None else every
        with heartbeat(
            self.beat, every=seconds, at_end=connections.close_all
        ):  # the connections of its thread
            yield self

    def beat(self) -> None:
        """Extend what is kept at this moment and still held."""
        with self._lock:
            tokens = list(self._kept)
        try:
            self._extend(tokens)
        except (
            Error
        ) as why:  # if the thread ended, other workers would take all of it and call its models again
            log.warning("leases could not be extended, trying again: %s", why)
            connection.close()

    def _extend(self, tokens: Sequence[UUID]) -> None:
        held = self._rows.filter(lease_token__in=tokens)
        with briefly():
            # a row that is being written at this moment is skipped: it needs no lease any more
            locked = held.select_for_update(skip_locked=True, no_key=True).order_by("pk")
            pks = list(locked.values_list("pk", flat=True))
            self._rows.model._base_manager.filter(pk__in=pks).update(lease_until=expiry(), **self._progress())


@contextmanager
def briefly() -> Iterator[None]:
    """Run a transaction that the database ends if this process sleeps in it for as long as a lease: others would wait for its locks."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            milliseconds = str(int(settings.LEASE_SECONDS * 1000))
            cursor.execute(
                "SELECT set_config('idle_in_transaction_session_timeout', %s, true)", [milliseconds]
            )
        yield


def mark_enqueued(rows: QuerySet[Any, Any], *, key: str = "pk", at_start: bool = False) -> list[Any]:
    """Mark those of these `Enqueued` rows that need a message, and return what it names: their `key`.

    A row needs none while a worker holds it, or while a message of the last `ENQUEUE_AGAIN_AFTER` may still wait. `at_start` (a worker
    has just started) does not count such messages: they may have been lost with the worker before.
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
