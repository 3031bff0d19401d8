"""The time of a collection: the database's clock, under the collection's lock, so that every process agrees.

Each change has its own time, taken under the lock and later than every change before it. A find reads at a time
at which no change is in progress. So a find "as of" the time of another find sees exactly its frames, whatever
the clocks of the machines say.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from django.db import OperationalError, connection
from psycopg.errors import LockNotAvailable

from timemachine.core import prepared_statements
from timemachine.core.pure.errors import InvalidInput, NotFound, Unavailable

LONGEST_WAIT: Final = "10s"
"""How long a find waits for a put that has locked the collection."""
TOLERATED: Final = timedelta(minutes=1)
"""How far another clock may be ahead; a time less far in the future means now."""
VISIBLE: Final = (
    "{0}.collection_id = %(collection)s AND {0}.valid_from <= %(at)s"
    " AND ({0}.valid_until IS NULL OR {0}.valid_until > %(at)s)"
)
"""SQL: a frame, or its weights, belongs to the collection at a time."""

_CHANGE_TIME = "SELECT greatest(clock_timestamp(), changed_at + interval '1 microsecond') FROM tm_collection WHERE id = %s"
_LOCK = "SELECT * FROM tm_lock_for_find(%(collection)s, %(longest_wait)s)"


class _LockedCollection(NamedTuple):
    frame_count: int
    changed_at: datetime | None
    present: datetime
    embedding_model: str
    all_embedded: bool
    any_ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The time at which a find reads. `frame_count` is the number of frames at that time, or None if the collection
    has changed since.

    `embedding_model` is the collection's current model, `all_embedded` whether it has embedded every frame,
    `any_ended` whether any frame has ever ended.
    """

    at: datetime
    frame_count: int | None
    embedding_model: str
    all_embedded: bool
    any_ended: bool

    @property
    def sees_all(self) -> bool:
        """Return whether every existing version is current at this time."""
        return self.frame_count is not None and not self.any_ended


def change_time(collection_id: UUID) -> datetime:
    """Return the time of a change, later than any before it. The collection must be locked for the change."""
    with connection.cursor() as cursor:
        cursor.execute(_CHANGE_TIME, [collection_id])
        found: datetime = cursor.fetchone()[0]
    return found


def request_read_lock(collection_id: UUID) -> prepared_statements.PendingRows:
    """Block changes to the collection until this transaction ends. `moment_when_locked` waits for the lock."""
    with _timeout_is_unavailable():
        return prepared_statements.send(_LOCK, {"collection": collection_id, "longest_wait": LONGEST_WAIT})


def moment_when_locked(sent: prepared_statements.PendingRows, as_of: datetime | None) -> Moment:
    """Return the time to read at (`as_of` None: now) in a collection that `request_read_lock` was called for.

    Raises `Unavailable` if a put holds the lock for too long, `NotFound` if the collection was deleted,
    `InvalidInput` for the future.
    """
    found = _locked(sent)
    if as_of is not None:
        check_not_in_future(as_of, found.present)
    at = found.present if as_of is None else min(as_of, found.present)
    unchanged = found.changed_at is None or found.changed_at <= at
    return Moment(
        at=at,
        frame_count=found.frame_count if unchanged else None,
        embedding_model=found.embedding_model,
        all_embedded=found.all_embedded,
        any_ended=found.any_ended,
    )


def lock_for_reading(collection_id: UUID, as_of: datetime | None) -> Moment:
    """Call `request_read_lock` and wait for the lock."""
    return moment_when_locked(request_read_lock(collection_id), as_of)


def check_not_in_future(as_of: datetime, present: datetime) -> None:
    """Raise `InvalidInput` for a time further ahead than clocks may differ."""
    if as_of > present + TOLERATED:
        raise InvalidInput(
            "`as_of` is in the future. Use a time in the past or `now`.",
            code="not_a_time",
            field="as_of",
        )


def lock_for_change(collection_id: UUID) -> None:
    """Wait for running finds and block new ones until this transaction ends. Lock the collection's row first."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(tm_collection_lock(%s))", [collection_id])


def _locked(sent: prepared_statements.PendingRows) -> _LockedCollection:
    with _timeout_is_unavailable():
        rows = sent.rows()
    if not rows:
        raise NotFound("This collection was deleted.", code="collection_not_found")
    return _LockedCollection(*rows[0])


@contextmanager
def _timeout_is_unavailable() -> Iterator[None]:
    try:
        yield
    except OperationalError as why:
        if not isinstance(why.__cause__, LockNotAvailable):
            raise
        raise Unavailable(
            "This collection is being changed, and the find timed out. Try again in a minute.",
            code="collection_busy",
        ) from why
