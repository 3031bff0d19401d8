"""The two legs of a find, in SQL: BM25 by the inner product of sparse vectors, and cosine similarity.

Both look only at the frames of one collection as they were at one moment, and words are weighed by how many frames of that
moment hold them, so a find of the past is exactly the find that could have been made then.

BM25 (Robertson and Zaragoza 2009): idf(t) = ln(1 + (N − n + 0.5) / (n + 0.5)), N frames of which n hold the term, times how
often the question has it; the frames' side of the product is stored (migration 0001). An identifier that the question names
is a term that only the exact identifier matches, and counts twice: who names one means it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from timemachine.retrieval.identifiers import identifiers
from timemachine.retrieval.models import LEXEME_SPACE

MOST_TERMS = 4_000
"""How many terms of a question are looked up: those that weigh most. A sparse vector may have 16,000."""
IDENTIFIER_TIMES = 2
RARE = 0.05
"""Where the terms of a question occur in less than this share of the frames, these are looked up by an index and no others read."""

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
VISIBLE = (
    "{0}.collection_id = %(collection)s AND {0}.valid_from <= %(at)s"
    " AND ({0}.valid_until IS NULL OR {0}.valid_until > %(at)s)"
)
_TERMS = """
WITH asked AS (
    SELECT lexeme AS term, cardinality(positions) AS times FROM unnest(to_tsvector('pg_catalog.english', %(query)s))
    UNION ALL
    SELECT '=' || each, %(identifier_times)s FROM unnest(%(identifiers)s::text[]) AS each
)
SELECT asked.term, coalesce(spelled.word, asked.term), asked.times, tm_term_dimension(asked.term), {frames}
FROM asked {join}
LEFT JOIN (
    SELECT DISTINCT ON (lexeme) lexeme, word
    FROM unnest(%(words)s::text[]) WITH ORDINALITY AS written(word, place),
         LATERAL unnest(to_tsvector('pg_catalog.english', word)) AS made
    ORDER BY lexeme, place
) AS spelled ON spelled.lexeme = asked.term
"""
_TERMS_NOW = _TERMS.format(
    frames="coalesce(known.frames, 0)",
    join="LEFT JOIN tm_term_count AS known ON known.collection_id = %(collection)s AND known.term = asked.term",
)
_QUOTED = r"('''' || replace(replace({0}, '\', '\\'), '''', '''''') || '''')"
_HOLDS = (
    f"CASE WHEN asked.term LIKE '=%%' THEN f.identifiers @> ARRAY[substr(asked.term, 2)]"
    f" ELSE f.terms @@ {_QUOTED.format('asked.term')}::tsquery END"
)
_TERMS_THEN = _TERMS.format(
    frames=f"(SELECT count(*) FROM tm_frame f WHERE {VISIBLE.format('f')} AND {_HOLDS})",  # noqa: S608  # constants of this file
    join="",
)
_FRAMES_THEN = f"SELECT count(*) FROM tm_frame f WHERE {VISIBLE.format('f')}"  # noqa: S608  # constants of this file

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
        OR f.terms @@ (SELECT string_agg({_QUOTED.format("each")}, '|') FROM unnest(%(words)s::text[]) AS each)::tsquery
    )
) AS holding ON holding.id = w.frame_id
"""  # noqa: S608
_WHY = """
SELECT w.frame_id, asked.place, -(w.weights <#> asked.vector::sparsevec)
FROM tm_frame_weights w CROSS JOIN unnest(%(vectors)s::text[]) WITH ORDINALITY AS asked(vector, place)
WHERE w.frame_id = ANY(%(rows)s) AND w.weights <#> asked.vector::sparsevec < 0
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word of a question as Postgres stems it, or an identifier behind a "=", with its weight and how many frames hold it.

    `word` is how the question spells it first.
    """

    term: str
    word: str
    dimension: int
    weight: float
    frames: int

    @property
    def is_identifier(self) -> bool:
        """Whether only the exact identifier matches it."""
        return self.term.startswith("=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as it is ranked by: its terms, the heaviest first, and how many frames there are to rank."""

    terms: tuple[Term, ...]
    frames: int

    @property
    def vector(self) -> str:
        """The terms as Postgres reads a sparse vector; of two terms in one dimension the heavier one counts."""
        heaviest: dict[int, float] = {}
        for term in self.terms:
            heaviest[term.dimension] = max(term.weight, heaviest.get(term.dimension, 0.0))
        return _sparse(heaviest)


def read(collection_id: UUID, query: str, at: datetime, counted: int | None) -> Question:
    """The terms of a query with their weights among the frames at a moment.

    `counted` is how many frames the collection has now, where the moment is now: the terms are counted already. For a moment
    that has passed (None) they are counted there.
    """
    facts: dict[str, Any] = {
        "collection": collection_id,
        "query": query,
        "at": at,
        "identifiers": list(identifiers(query)),
        "words": [*dict.fromkeys(_WORD.findall(query))][:MOST_TERMS],
        "identifier_times": IDENTIFIER_TIMES,
    }
    with connection.cursor() as cursor:
        if counted is None:
            cursor.execute(_FRAMES_THEN, facts)
            counted = int(cursor.fetchone()[0])
            cursor.execute(_TERMS_THEN, facts)
        else:
            cursor.execute(_TERMS_NOW, facts)
        found = [_term(counted, *row) for row in cursor.fetchall()]
    heaviest = sorted((term for term in found if term.weight > 0), key=lambda term: (-term.weight, term.term))
    return Question(terms=tuple(heaviest[:MOST_TERMS]), frames=counted)


def _term(all_frames: int, term: str, word: str, times: int, dimension: int, frames: int) -> Term:
    rarity = math.log(1 + (all_frames - frames + 0.5) / (frames + 0.5))
    return Term(term=term, word=word, dimension=dimension, weight=round(times * rarity, 4), frames=frames)


def lexical(collection_id: UUID, question: Question, at: datetime, limit: int) -> dict[int, float]:
    """BM25 of the frames that share a term with the question, best first; frame row → score (above 0)."""
    if not question.terms:
        return {}
    rare = sum(term.frames for term in question.terms) < RARE * question.frames
    sql = _LEXICAL.format(candidates=_CANDIDATES if rare else "", visible=VISIBLE.format("w"))
    facts: dict[str, Any] = {
        "collection": collection_id,
        "question": question.vector,
        "at": at,
        "limit": limit,
        "identifiers": [term.term[1:] for term in question.terms if term.is_identifier],
        "words": [term.term for term in question.terms if not term.is_identifier],
    }
    with connection.cursor() as cursor:
        cursor.execute(sql, facts)
        return {row: float(score) for row, score in cursor.fetchall()}


def why(question: Question, rows: Sequence[int]) -> dict[int, list[tuple[Term, float]]]:
    """What each term gave to the score of each frame row: its part of the BM25 score; together they are the score."""
    if not question.terms or not rows:
        return {}
    vectors = [_sparse({term.dimension: term.weight}) for term in question.terms]
    found: dict[int, list[tuple[Term, float]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_WHY, {"vectors": vectors, "rows": list(rows)})
        for row, place, part in cursor.fetchall():
            found.setdefault(row, []).append((question.terms[place - 1], float(part)))
    return found


def _sparse(weights: Mapping[int, float]) -> str:
    return "{" + ",".join(f"{at}:{weights[at]}" for at in sorted(weights)) + f"}}/{LEXEME_SPACE}"


_SEMANTIC = f"""
SELECT w.frame_id, 1 - (e.vector <=> %(vector)s::halfvec) AS score
FROM tm_frame_embedding e JOIN tm_frame_weights w ON w.frame_id = e.frame_id
WHERE e.collection_id = %(collection)s AND e.model = %(model)s AND {VISIBLE.format("w")}
ORDER BY (e.vector <=> %(vector)s::halfvec) + 0, w.number
LIMIT %(limit)s
"""  # noqa: S608


def semantic(
    collection_id: UUID, vector: Sequence[float], model: str, at: datetime, limit: int
) -> dict[int, float]:
    """Cosine similarity of the frames to the query's vector, best first; frame row → score (−1 to 1)."""
    facts: dict[str, Any] = {
        "collection": collection_id,
        "vector": dense(vector),
        "model": model,
        "at": at,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SEMANTIC, facts)
        return {row: float(score) for row, score in cursor.fetchall()}


def dense(vector: Sequence[float]) -> str:
    """A vector as Postgres reads it."""
    return "[" + ",".join(f"{value:.6g}" for value in vector) + "]"
