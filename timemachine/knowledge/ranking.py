"""The two retrievers of a find, in SQL: BM25 by the inner product of sparse vectors, and cosine similarity.

Both look only at the frames of one collection at one time, and words are weighted by the frames of that time. A
find of the past returns exactly what it would have returned then.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from pgvector import HalfVector

from timemachine.core import prepared_statements
from timemachine.core.database import SqlParameters
from timemachine.knowledge.collection_time import VISIBLE
from timemachine.knowledge.question import QUOTED, Question

type Scores = Callable[[], dict[int, float]]
"""Pending scores: call it once to wait for them, by frame row, best first."""

RARE = 0.05
"""If the terms of a question occur in less than this share of the frames, only the frames with these terms are
read, by an index.
"""
LEAST_SLACK = 16
"""How many more of the nearest frames than requested are read at least, in case some have ended."""

_LEXICAL = """
SELECT frame_id, -distance FROM (
    SELECT w.frame_id, w.number, w.weights <#> %(question)s::sparsevec AS distance
    FROM tm_frame_weights w {candidates}
    WHERE {visible}
    ORDER BY distance, w.number
    LIMIT %(limit)s
) AS best WHERE distance < 0
"""
_CANDIDATES = f"""
JOIN (
    SELECT f.id FROM tm_frame f
    WHERE f.collection_id = %(collection)s AND (
        f.identifiers && %(identifiers)s::text[]
        OR f.terms @@ (SELECT string_agg({QUOTED.format("each")}, '|') FROM unnest(%(words)s::text[]) AS each)::tsquery
    )
) AS holding ON holding.id = w.frame_id
"""  # noqa: S608


def lexical(collection_id: UUID, question: Question, at: datetime, limit: int) -> Scores:
    """Return the BM25 scores (above 0) of the frames that share a term with the question."""
    if not question.terms:
        return dict
    rare = sum(term.frames for term in question.terms) < RARE * question.frames
    sql = _LEXICAL.format(candidates=_CANDIDATES if rare else "", visible=VISIBLE.format("w"))
    facts: SqlParameters = {
        "question": question.vector,
        "at": at,
        "identifiers": [term.term[1:] for term in question.terms if term.is_identifier],
        "words": [term.term for term in question.terms if not term.is_identifier],
    }
    sent = prepared_statements.send(_settled(sql, collection_id, limit), facts, binary=True)
    return lambda: dict(sent.rows())


# the nearest of all versions first, so that few complete rows are read; "+ 0" prevents the use of approximate indexes
_NEAR = f"""
SELECT near.frame_id, near.distance, {VISIBLE.format("w")}
FROM (
    SELECT frame_id, (vector <=> %(vector)s::halfvec) + 0 AS distance FROM tm_frame_embedding
    WHERE collection_id = %(collection)s AND model = %(model)s
    ORDER BY distance LIMIT %(reach)s
) AS near JOIN tm_frame_weights AS w ON w.frame_id = near.frame_id
ORDER BY near.distance, w.number
"""  # noqa: S608
_NEAR_ALL = """
SELECT frame_id, (vector <=> %(vector)s::halfvec) + 0 AS distance FROM tm_frame_embedding
WHERE collection_id = %(collection)s AND model = %(model)s
ORDER BY distance, frame_id LIMIT %(limit)s
"""
_SEMANTIC = f"""
SELECT w.frame_id, (e.vector <=> %(vector)s::halfvec) + 0 AS distance
FROM tm_frame_embedding e JOIN tm_frame_weights w ON w.frame_id = e.frame_id
WHERE e.collection_id = %(collection)s AND e.model = %(model)s AND {VISIBLE.format("w")}
ORDER BY distance, w.number
LIMIT %(limit)s
"""  # noqa: S608


_SEMANTIC_AT = """
SELECT w.frame_id, (e.vector <=> %(vector)s::halfvec) + 0 AS distance, {seen}
FROM tm_frame_embedding e JOIN tm_frame_weights w ON w.frame_id = e.frame_id
WHERE e.collection_id = %(collection)s AND e.model = %(model)s AND ({any_seen})
ORDER BY distance, w.number
"""


def semantic(
    collection_id: UUID,
    vector: Sequence[float],
    model: str,
    at: datetime,
    limit: int,
    *,
    sees_all: bool = False,
) -> Scores:
    """Return the cosine similarity (−1 to 1) of the frames to the query's vector.

    `sees_all`: every existing version is current at that time, so that rows are in the order of frame numbers.
    """
    facts = {"vector": dense(vector), "model": model, "at": at}
    near = prepared_statements.send(
        _settled(_NEAR_ALL if sees_all else _NEAR, collection_id, limit), facts, binary=True
    )

    def scores() -> dict[int, float]:
        found = near.rows() if sees_all else _visible(near.rows(), limit)
        if found is None:
            found = prepared_statements.fetch_rows(_settled(_SEMANTIC, collection_id, limit), facts)
        return {row: 1 - distance for row, distance in found}

    return scores


def semantic_at(
    collection_id: UUID, vector: Sequence[float], model: str, moments: Sequence[datetime]
) -> list[dict[int, float]]:
    """Return the scores of `semantic` at each of several times, without a limit. A frame's score is the same at
    each of them.
    """
    visible = [VISIBLE.format("w").replace("%(at)s", f"%(at_{place})s") for place in range(len(moments))]
    sql = _SEMANTIC_AT.format(seen=", ".join(visible), any_seen=" OR ".join(f"({each})" for each in visible))
    facts = {"vector": dense(vector), "model": model} | {
        f"at_{place}": at for place, at in enumerate(moments)
    }
    near = prepared_statements.fetch_rows(_settled(sql, collection_id, 0), facts)
    return [
        {row: 1 - distance for row, distance, *seen in near if seen[place]} for place in range(len(moments))
    ]


def _settled(sql: str, collection_id: UUID, limit: int) -> str:
    """Return the statement with those values in its text that its plan depends on."""
    settled = {"collection": f"'{collection_id}'", "limit": str(limit), "reach": str(_reach(limit))}
    for name, text in settled.items():
        sql = sql.replace(f"%({name})s", text)
    return sql


def _reach(limit: int) -> int:
    return limit + max(LEAST_SLACK, limit // 4)


def _visible(near: Sequence[tuple[int, float, bool]], limit: int) -> Sequence[tuple[int, float]] | None:
    """Return the first `limit` visible rows, or None if others beyond the reach may belong to them."""
    seen = [(row, distance) for row, distance, visible in near if visible][:limit]
    beyond = len(near) == _reach(limit)
    if beyond and (len(seen) < limit or seen[-1][1] >= near[-1][1]):
        return None
    return seen


def dense(vector: Sequence[float]) -> HalfVector:
    """Return a vector in the type that Postgres accepts."""
    return HalfVector(list(vector))
