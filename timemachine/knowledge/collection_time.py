"""When things happen in a collection: by the database's clock, under the collection's lock, so that every process agrees.

A frame comes or ends at a `stamp`, taken while nobody else changes the collection and later than every stamp before it; a find
looks at a `Moment` at which no change is under way. So a find "as of" the moment of another one sees exactly its frames,
whatever the clocks of the machines say.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from django.db import OperationalError, connection
from psycopg.errors import LockNotAvailable

from timemachine.core.pure.errors import InvalidInput, NotFound, Unavailable
from timemachine.knowledge import prepared_statements

LONGEST_WAIT: Final = "10s"
"""How long a find waits for a put that holds the collection."""
TOLERATED: Final = timedelta(minutes=1)
"""How far another clock may be ahead; a time so near in the future means now."""
VISIBLE: Final = (
    "{0}.collection_id = %(collection)s AND {0}.valid_from <= %(at)s"
    " AND ({0}.valid_until IS NULL OR {0}.valid_until > %(at)s)"
)
"""In SQL: a frame, or its weights, of a collection at a moment."""

_STAMP = "SELECT greatest(clock_timestamp(), changed_at + interval '1 microsecond') FROM tm_collection WHERE id = %s"
_LOCK = "SELECT * FROM tm_lock_for_find(%(collection)s, %(longest_wait)s)"


class _Held(NamedTuple):
    frame_count: int
    changed_at: datetime | None
    present: datetime
    embedding_model: str
    all_embedded: bool
    any_ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When a find looks, and how many frames there are then, where the collection has not changed since; else None.

    `embedding_model` is the collection's own at present, `all_embedded` whether it has seen every frame, `any_ended` whether a
    frame has ended at any time.
    """

    at: datetime
    counted: int | None
    embedding_model: str
    all_embedded: bool
    any_ended: bool

    @property
    def sees_all(self) -> bool:
        """Whether every version that there is stands at this moment."""
        return self.counted is not None and not self.any_ended


def stamp(collection_id: UUID) -> datetime:
    """The time of a change, later than any before it. The collection has to be locked for the change."""
    with connection.cursor() as cursor:
        cursor.execute(_STAMP, [collection_id])
        found: datetime = cursor.fetchone()[0]
    return found


def ask_to_hold(collection_id: UUID) -> prepared_statements.Asked:
    """Have no change under way until this transaction ends; `held` waits for that."""
    with _busy_is_unavailable():
        return prepared_statements.ask(_LOCK, {"collection": collection_id, "longest_wait": LONGEST_WAIT})


def held(asked: prepared_statements.Asked, as_of: datetime | None) -> Moment:
    """The moment that is looked at (`as_of` None: now) in a collection that `ask_to_hold` was called for.

    Raises `Unavailable` where a put holds the collection for too long, `NotFound` where it is gone, `InvalidInput` for the future.
    """
    found = _held(asked)
    if as_of is not None:
        check_has_come(as_of, found.present)
    at = found.present if as_of is None else min(as_of, found.present)
    unchanged = found.changed_at is None or found.changed_at <= at
    return Moment(
        at=at,
        counted=found.frame_count if unchanged else None,
        embedding_model=found.embedding_model,
        all_embedded=found.all_embedded,
        any_ended=found.any_ended,
    )


def hold(collection_id: UUID, as_of: datetime | None) -> Moment:
    """`ask_to_hold`, and what `held` says at once."""
    return held(ask_to_hold(collection_id), as_of)


def check_has_come(as_of: datetime, present: datetime) -> None:
    """Raise `InvalidInput` for a moment that lies further ahead than clocks differ."""
    if as_of > present + TOLERATED:
        raise InvalidInput(
            "`as_of` lies in the future, where nothing can be looked up yet; name a time that has passed, or `now`.",
            code="not_a_time",
            field="as_of",
        )


def hold_for_change(collection_id: UUID) -> None:
    """Wait for the finds that are under way, and let none begin until this transaction ends. The collection's row is locked before."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(tm_collection_lock(%s))", [collection_id])


def _held(asked: prepared_statements.Asked) -> _Held:
    with _busy_is_unavailable():
        rows = asked.rows()
    if not rows:
        raise NotFound("This collection is not there any more.", code="collection_not_found")
    return _Held(*rows[0])


@contextmanager
def _busy_is_unavailable() -> Iterator[None]:
    try:
        yield
    except OperationalError as why:
        if not isinstance(why.__cause__, LockNotAvailable):
            raise
        raise Unavailable(
            "This collection is being changed for longer than a find waits; ask again in a minute.",
            code="collection_busy",
        ) from why
