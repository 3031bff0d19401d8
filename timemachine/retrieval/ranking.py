"""The two legs of a find, in SQL: BM25 by the inner product of sparse vectors, and cosine by exact scan.

Both look only at the frames of one collection as they were at one moment; document frequencies are counted over the same
frames, so a find of the past is exactly the find that could have been made then.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

VISIBLE = "f.collection_id = %(collection)s AND f.valid_from <= %(at)s AND (f.valid_until IS NULL OR f.valid_until > %(at)s)"

LEXICAL = f"""
WITH words AS (
    SELECT lexeme, cardinality(positions) AS times FROM unnest(to_tsvector('pg_catalog.english', %(query)s))
), total AS (
    SELECT count(*)::float8 AS frames FROM tm_frame f WHERE {VISIBLE}
), counted AS (
    SELECT words.lexeme, words.times, (
        SELECT count(*)::float8 FROM tm_frame f
        WHERE {VISIBLE}
          AND f.terms @@ ('''' || replace(replace(words.lexeme, '\\', '\\\\'), '''', '''''') || '''')::tsquery
    ) AS frames
    FROM words
), weighed AS (
    SELECT tm_term_dimension(lexeme) AS dimension,
           round(max(times * ln(1 + (total.frames - counted.frames + 0.5) / (counted.frames + 0.5)))::numeric, 4) AS weight
    FROM counted CROSS JOIN total
    GROUP BY 1
), question AS MATERIALIZED (
    SELECT ('{{' || coalesce(string_agg(dimension || ':' || weight, ',' ORDER BY dimension), '') || '}}/16777216')::sparsevec AS vector
    FROM weighed
)
SELECT f.id, -(f.weights <#> (SELECT vector FROM question)) AS score
FROM tm_frame f
WHERE {VISIBLE} AND f.weights <#> (SELECT vector FROM question) < 0
ORDER BY f.weights <#> (SELECT vector FROM question), f.number
LIMIT %(limit)s
"""  # noqa: S608  # put together from constants of this file

SEMANTIC = f"""
SELECT f.id, 1 - (e.vector <=> %(vector)s::halfvec) AS score
FROM tm_frame_embedding e JOIN tm_frame f ON f.id = e.frame_id
WHERE e.collection_id = %(collection)s AND e.model = %(model)s AND {VISIBLE}
ORDER BY (e.vector <=> %(vector)s::halfvec) + 0, f.number
LIMIT %(limit)s
"""  # noqa: S608


def lexical(collection_id: UUID, query: str, at: datetime, limit: int) -> dict[int, float]:
    """BM25 of the frames that share a word with the query, best first; frame row → score (above 0)."""
    with connection.cursor() as cursor:
        cursor.execute(LEXICAL, {"collection": collection_id, "query": query, "at": at, "limit": limit})
        return {row: float(score) for row, score in cursor.fetchall()}


def semantic(
    collection_id: UUID, vector: Sequence[float], model: str, at: datetime, limit: int
) -> dict[int, float]:
    """Cosine similarity of the frames to the query's vector, best first; frame row → score (−1 to 1)."""
    written = "[" + ",".join(f"{value:.6g}" for value in vector) + "]"
    facts: dict[str, Any] = {
        "collection": collection_id,
        "vector": written,
        "model": model,
        "at": at,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(SEMANTIC, facts)
        return {row: float(score) for row, score in cursor.fetchall()}
