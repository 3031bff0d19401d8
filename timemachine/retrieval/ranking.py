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

MOST_TERMS = 256
"""How many words of a question, and how many identifiers, are looked up: its first ones. What follows counts by its meaning."""
MOST_EXPLAINED = 64
"""How many terms, the heaviest ones, a hit is explained by."""
LEAST_WEIGHT = 0.0001
"""What a word weighs at least, also one that every frame holds."""
IDENTIFIER_TIMES = 2
RARE = 0.05
"""Where the terms of a question occur in less than this share of the frames, these are looked up by an index and no others read."""

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
VISIBLE = (
    "{0}.collection_id = %(collection)s AND {0}.valid_from <= %(at)s"
    " AND ({0}.valid_until IS NULL OR {0}.valid_until > %(at)s)"
)
_ASKED = """
asked AS (
    (SELECT lexeme AS term, false AS exact, cardinality(positions) AS times
     FROM unnest(to_tsvector('pg_catalog.english', %(query)s)) ORDER BY positions[1] LIMIT %(most)s)
    UNION ALL
    SELECT '=' || each, true, %(identifier_times)s FROM unnest(%(identifiers)s::text[]) AS each
)
"""
_TERMS = """
SELECT asked.term, coalesce(spelled.word, asked.term), asked.times, tm_term_dimension(asked.term),
       coalesce(counted.frames, 0)
FROM asked LEFT JOIN counted ON counted.term = asked.term
LEFT JOIN (
    SELECT DISTINCT ON (lexeme) lexeme, word
    FROM unnest(%(words)s::text[]) WITH ORDINALITY AS written(word, place),
         LATERAL unnest(to_tsvector('pg_catalog.english', word)) AS made
    ORDER BY lexeme, place
) AS spelled ON spelled.lexeme = asked.term
"""
_QUOTED = r"('''' || replace(replace({0}, '\', '\\'), '''', '''''') || '''')"
_COUNTED_NOW = """
counted AS (
    SELECT known.term, known.frames FROM tm_term_count AS known JOIN asked ON asked.term = known.term
    WHERE known.collection_id = %(collection)s
)
"""
# each term by the index that holds it: one condition for both kinds would read every frame for every term
_COUNTED_THEN = f"""
counted AS (
    SELECT term, (
        SELECT count(*) FROM tm_frame f
        WHERE {VISIBLE.format("f")} AND f.terms @@ {_QUOTED.format("term")}::tsquery
    ) AS frames FROM asked WHERE NOT exact
    UNION ALL
    SELECT term, (
        SELECT count(*) FROM tm_frame f WHERE {VISIBLE.format("f")} AND f.identifiers @> ARRAY[substr(term, 2)]
    ) FROM asked WHERE exact
)
"""  # noqa: S608  # constants of this file
_TERMS_NOW = f"WITH {_ASKED}, {_COUNTED_NOW} {_TERMS}"
_TERMS_THEN = f"WITH {_ASKED}, {_COUNTED_THEN} {_TERMS}"
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
        "most": MOST_TERMS,
        "identifiers": list(identifiers(query))[:MOST_TERMS],
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
    heaviest = sorted(found, key=lambda term: (-term.weight, term.term))
    return Question(terms=tuple(heaviest), frames=counted)


def _term(all_frames: int, term: str, word: str, times: int, dimension: int, frames: int) -> Term:
    rarity = math.log(1 + (all_frames - frames + 0.5) / (frames + 0.5))
    return Term(
        term=term,
        word=word,
        dimension=dimension,
        weight=max(round(times * rarity, 4), LEAST_WEIGHT),
        frames=frames,
    )


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
    """What each term gave to the score of each frame row: its part of the BM25 score; together they are the score.

    Of a question with more than `MOST_EXPLAINED` terms the lightest ones are left out.
    """
    if not question.terms or not rows:
        return {}
    vectors = [_sparse({term.dimension: term.weight}) for term in question.terms[:MOST_EXPLAINED]]
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
