"""Approximate semantic search for large collections, with an HNSW index per collection.

An index serves one collection under one embedding model, so no filter empties its results (an index over all
collections, filtered to 1 %, finds 5 % of what it should). It is used for current frames only, up to the depth
at which it was measured (recall@10 at least 0.97 with these settings, `bench/find.py`). Everything else is
searched exactly. Indexes are built while puts and finds go on.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import connection, connections

from timemachine.core.database import SqlParameters, lock_if_free
from timemachine.core.database_roles import application_rights, has_owner_connection, owner_alias
from timemachine.knowledge.collection_time import VISIBLE
from timemachine.knowledge.models import Collection, FrameEmbedding
from timemachine.knowledge.ranking import dense

DEPTH = 200
"""How many neighbours an index returns at most; a deeper ranking is searched exactly."""
MOST_DIMENSIONS = 4_000
"""The limit of pgvector's HNSW for half-precision vectors; longer ones are searched exactly."""
_BUILT_WITH = "m = 16, ef_construction = 200"

_STATE = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
_NEAREST = """
SELECT near.frame_id, 1 - near.distance FROM (
    SELECT frame_id, vector::halfvec({size}) <=> %(vector)s::halfvec({size}) AS distance
    FROM tm_frame_embedding
    WHERE collection_id = '{collection}' AND model = '{model}'
    ORDER BY vector::halfvec({size}) <=> %(vector)s::halfvec({size})
    LIMIT {depth}
) AS near JOIN tm_frame_weights w ON w.frame_id = near.frame_id
WHERE {visible}
ORDER BY near.distance, w.number
LIMIT %(limit)s
"""


def index_name(collection_id: UUID, model: str) -> str:
    """Return the name of a collection's index under a model."""
    return "tm_nearest_" + hashlib.sha256(f"{collection_id} {model}".encode()).hexdigest()[:16]


def can_serve(collection_id: UUID, model: str, frames: int, depth: int) -> bool:
    """Return whether a valid index can rank this many current frames to this depth."""
    large = frames >= settings.APPROXIMATE_SEARCH_FROM and depth <= DEPTH
    return large and has_index(collection_id, model)


def has_index(collection_id: UUID, model: str) -> bool:
    """Return whether a valid index exists."""
    return _state(index_name(collection_id, model)) is True


def nearest(
    collection_id: UUID, vector: Sequence[float], model: str, at: datetime, limit: int
) -> dict[int, float]:
    """Return the cosine similarity (−1 to 1) of the approximately nearest frames by frame row, best first."""
    sql = _NEAREST.format(
        size=len(vector),
        collection=collection_id,
        model=_quoted(model).replace("%", "%%"),
        depth=DEPTH,
        visible=VISIBLE.format("w"),
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('hnsw.ef_search', %s, true)", [str(DEPTH)])
        facts: SqlParameters = {
            "collection": collection_id,
            "vector": dense(vector),
            "at": at,
            "limit": limit,
        }
        cursor.execute(sql, facts)
        return {row: float(score) for row, score in cursor.fetchall()}


def collections_without_index() -> list[UUID]:
    """Return the large collections that have no valid index under their model, if this program may build one."""
    large = Collection.objects.filter(frame_count__gte=settings.APPROXIMATE_SEARCH_FROM)
    rows = large.values_list("id", "embedding_model")
    missing = [collection for collection, model in rows if not has_index(collection, model)]
    return missing if missing and may_build() else []


def may_build() -> bool:
    """Return whether this program may build an index, which needs the owner of the tables."""
    return has_owner_connection() or application_rights().may_change_tables


def build_for(collection_id: UUID) -> None:
    """Build the index of a collection under its own model, unless the collection was deleted."""
    for model in Collection.objects.filter(id=collection_id).values_list("embedding_model", flat=True):
        build(collection_id, model)


def build(collection_id: UUID, model: str) -> bool:
    """Build the index of a collection under a model. Return False if another process is building it or there are
    no vectors.

    Safe to run twice: the remains of a killed build are dropped first. Must not run inside a transaction.
    """
    name = index_name(collection_id, model)
    first = FrameEmbedding.objects.filter(collection_id=collection_id, model=model).first()
    if first is None or len(first.vector) > MOST_DIMENSIONS:
        return False
    with lock_if_free(name, using=owner_alias()) as is_free, connections[owner_alias()].cursor() as cursor:
        if not is_free:
            return False
        if _state(name) is False:
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        size = len(first.vector)
        cursor.execute(
            f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON tm_frame_embedding"
            f" USING hnsw ((vector::halfvec({size})) halfvec_cosine_ops) WITH ({_BUILT_WITH})"
            f" WHERE collection_id = '{collection_id}' AND model = '{_quoted(model)}'"
        )
    return True


def drop(collection_id: UUID, model: str) -> None:
    """Drop the index of a collection under a model if it exists."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tm_drop_nearest_index(%s)", [index_name(collection_id, model)])


def _state(name: str) -> bool | None:
    """Return whether the index is valid, or None without an index."""
    with connection.cursor() as cursor:
        cursor.execute(_STATE, [name])
        row = cursor.fetchone()
    return None if row is None else bool(row[0])


def _quoted(model: str) -> str:
    return model.replace("'", "''")
