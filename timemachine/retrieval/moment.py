"""When things happen in a collection: by the database's clock, under the collection's lock, so that every process agrees.

A frame comes or ends at a `stamp`, taken while nobody else changes the collection and later than every stamp before it; a find
looks at a `Moment` at which no change is under way. So a find "as of" the moment of another one sees exactly its frames,
whatever the clocks of the machines say.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import OperationalError, connection
from psycopg.errors import LockNotAvailable

from timemachine.base.errors import InvalidInput, NotFound, Unavailable
from timemachine.retrieval import prepared

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
_HOLD = "SELECT * FROM tm_hold(%(collection)s, %(longest_wait)s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When a find looks, and how many frames there are then, where the collection has not changed since; else None.

    `embedding_model` is the collection's own at present, `all_embedded` whether it has seen every frame.
    """

    at: datetime
    counted: int | None
    embedding_model: str
    all_embedded: bool


def stamp(collection_id: UUID) -> datetime:
    """The time of a change, later than any before it. The collection has to be locked for the change."""
    with connection.cursor() as cursor:
        cursor.execute(_STAMP, [collection_id])
        found: datetime = cursor.fetchone()[0]
    return found


def hold(collection_id: UUID, as_of: datetime | None) -> Moment:
    """The moment that is asked for (None: now), with no change under way until this transaction ends.

    Raises `Unavailable` where a put holds the collection for too long, `NotFound` where it is gone, `InvalidInput` for the future.
    """
    counted, changed_at, present, embedding_model, all_embedded = _held(collection_id)
    if as_of is not None and as_of > present + TOLERATED:
        raise InvalidInput(
            "`as_of` lies in the future, where nothing can be looked up yet; name a time that has passed, or `now`.",
            code="not_a_time",
            field="as_of",
        )
    at = present if as_of is None else min(as_of, present)
    unchanged = changed_at is None or changed_at <= at
    return Moment(
        at=at,
        counted=counted if unchanged else None,
        embedding_model=embedding_model,
        all_embedded=all_embedded,
    )


def _held(collection_id: UUID) -> tuple[int, datetime | None, datetime, str, bool]:
    try:
        held = prepared.rows(_HOLD, {"collection": collection_id, "longest_wait": LONGEST_WAIT})
    except OperationalError as why:
        if not isinstance(why.__cause__, LockNotAvailable):
            raise
        raise Unavailable(
            "A large put holds this collection; ask again in a minute.", code="collection_busy"
        ) from why
    if not held:
        raise NotFound("This collection is not there any more.", code="collection_not_found")
    counted, changed_at, present, embedding_model, all_embedded = held[0]
    return counted, changed_at, present, embedding_model, all_embedded
