"""The weighted terms of a question: its words as Postgres stems them and its identifiers, rare ones higher.

BM25 (Robertson and Zaragoza 2009): idf(t) = ln(1 + (N − n + 0.5) / (n + 0.5)) with N frames of which n contain
the term, times its number of occurrences in the question. The frames' factor is stored (sql/text_search.sql).
An identifier matches only exactly and counts twice, because a question that contains one is about it.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from timemachine.core import prepared_statements
from timemachine.core.database import SqlParameters
from timemachine.knowledge.collection_time import VISIBLE
from timemachine.knowledge.fields import LEXEME_SPACE
from timemachine.knowledge.pure.identifiers import identifiers

MOST_TERMS = 256
"""How many words and how many identifiers of a question are looked up; the rest counts only by meaning."""
LEAST_WEIGHT = 0.0001
"""The least weight of a word, also of one that every frame contains."""
IDENTIFIER_TIMES = 2
MOST_LOOKUPS = 20_000
"""How many lookups of a word in changed frames are allowed to compute earlier counts from the current ones."""
QUOTED = r"('''' || replace(replace({0}, '\', '\\'), '''', '''''') || '''')"
"""A text as a word of a tsquery."""

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+|(?<=\d),\d{3}(?!\d))*")
_PART = re.compile(r"[^\W_]+")
_ASKED = """
asked AS (
    (SELECT lexeme AS term, false AS exact, cardinality(positions) AS times
     FROM unnest(to_tsvector('pg_catalog.english', %(query)s)) ORDER BY positions[1] LIMIT %(most)s)
    UNION ALL
    SELECT '=' || each, true, %(identifier_times)s FROM unnest(%(identifiers)s::text[]) AS each
)
"""
_TERMS = """
SELECT asked.term, coalesce(spelled.words, ARRAY[asked.term]), asked.times, tm_term_dimension(asked.term),
       coalesce(counted.frames, 0)
FROM asked LEFT JOIN counted ON counted.term = asked.term
LEFT JOIN (
    SELECT lexeme, array_agg(word ORDER BY place) AS words
    FROM unnest(%(words)s::text[]) WITH ORDINALITY AS written(word, place),
         LATERAL unnest(to_tsvector('pg_catalog.english', word)) AS made
    GROUP BY lexeme
) AS spelled ON spelled.lexeme = asked.term
"""
_COUNTED_NOW = """
counted AS (
    SELECT known.term, known.frames FROM tm_term_count AS known JOIN asked ON asked.term = known.term
    WHERE known.collection_id = %(collection)s
)
"""
# each kind of term by its own index: one condition for both would read every frame for every term
_COUNTED_THEN = f"""
counted AS (
    SELECT term, (
        SELECT count(*) FROM tm_frame f
        WHERE {VISIBLE.format("f")} AND f.terms @@ {QUOTED.format("term")}::tsquery
    ) AS frames FROM asked WHERE NOT exact
    UNION ALL
    SELECT term, (
        SELECT count(*) FROM tm_frame f WHERE {VISIBLE.format("f")} AND f.identifiers @> ARRAY[substr(term, 2)]
    ) FROM asked WHERE exact
)
"""  # noqa: S608  # constants of this file
# what has changed since then: +1 for a frame that has ended, -1 for one that was added
_SINCE = """
SELECT 1 AS sign, f.terms, f.identifiers FROM tm_frame AS f
WHERE f.collection_id = %(collection)s AND f.valid_from <= %(at)s AND f.valid_until > %(at)s
UNION ALL
SELECT -1, f.terms, f.identifiers FROM tm_frame AS f
WHERE f.collection_id = %(collection)s AND f.valid_from > %(at)s AND f.valid_until IS NULL
"""
_COUNTED_BACK = f"""
since AS MATERIALIZED ({_SINCE}),
counted AS (
    SELECT asked.term, coalesce(known.frames, 0) + (
        SELECT coalesce(sum(since.sign), 0) FROM since
        WHERE CASE WHEN asked.exact THEN since.identifiers @> asked.named ELSE since.terms @@ asked.word END
    ) AS frames
    FROM (
        SELECT term, exact, ARRAY[substr(term, 2)] AS named,
               CASE WHEN NOT exact THEN {QUOTED.format("term")}::tsquery END AS word
        FROM asked OFFSET 0
    ) AS asked LEFT JOIN tm_term_count AS known ON known.collection_id = %(collection)s AND known.term = asked.term
)
"""  # noqa: S608  # constants of this file
_CHANGES = f"""
SELECT count(sign), frame_count + coalesce(sum(sign), 0)
FROM tm_collection LEFT JOIN (SELECT sign FROM ({_SINCE}) AS each LIMIT %(most_changes)s + 1) AS changes ON true
WHERE id = %(collection)s GROUP BY frame_count
"""  # noqa: S608  # constants of this file
_TERMS_NOW, _TERMS_THEN, _TERMS_BACK = (
    f"WITH {_ASKED}, {counted} {_TERMS}" for counted in (_COUNTED_NOW, _COUNTED_THEN, _COUNTED_BACK)
)
_FRAMES_THEN = f"SELECT count(*) FROM tm_frame f WHERE {VISIBLE.format('f')}"  # noqa: S608  # constants of this file


class Spelling(NamedTuple):
    """A word as the question spells it, and its terms: several if it has parts ("freon-12", "12,000")."""

    word: str
    terms: frozenset[str]


class Term(NamedTuple):
    """A stemmed word of a question, or an identifier after "=", with its weight and the number of frames that
    contain it.

    `spellings` are the words of the question that yield it, complete words before parts. An identifier matches
    only exactly.
    """

    term: str
    spellings: tuple[Spelling, ...]
    dimension: int
    weight: float
    frames: int
    is_identifier: bool

    @property
    def vector(self) -> str:
        """Return the term alone as a sparse vector in Postgres' text format."""
        return sparse({self.dimension: self.weight})


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The terms of a question, highest weight first, and the number of frames to rank."""

    terms: tuple[Term, ...]
    frames: int

    @property
    def vector(self) -> str:
        """Return the terms as a sparse vector in Postgres' text format. Of two terms in one dimension the higher
        weight counts.
        """
        heaviest: dict[int, float] = {}
        for term in self.terms:
            heaviest[term.dimension] = max(term.weight, heaviest.get(term.dimension, 0.0))
        return sparse(heaviest)


def request_terms(collection_id: UUID, query: str) -> prepared_statements.PendingRows:
    """Request the terms of a query with their current counts, for `weighted_question`."""
    return prepared_statements.send(_TERMS_NOW, _parameters(collection_id, query))


def weighted_question(
    collection_id: UUID,
    query: str,
    at: datetime,
    counted: int | None,
    sent: prepared_statements.PendingRows | None = None,
) -> Question:
    """Return the terms of a query with their weights among the frames at a time.

    `counted` is the current number of frames if the time is now; then the stored counts are used, and `sent`
    is the request for them if it was sent. None means a past time, for which the terms are counted.
    """
    if counted is None:
        counted, rows = _count_at({**_parameters(collection_id, query), "at": at})
    else:
        rows = (sent or request_terms(collection_id, query)).rows()
    made_of = _spellings((term, words) for term, words, *_ in rows)
    found = [_term(counted, made_of, *row) for row in rows]
    heaviest = sorted(found, key=lambda term: (-term.weight, term.term))
    return Question(terms=tuple(heaviest), frames=counted)


def _parameters(collection_id: UUID, query: str) -> SqlParameters:
    return {
        "collection": collection_id,
        "query": query,
        "most": MOST_TERMS,
        "identifiers": list(identifiers(query))[:MOST_TERMS],
        "words": _words(query),
        "identifier_times": IDENTIFIER_TIMES,
    }


def _count_at(facts: SqlParameters) -> tuple[int, list[tuple[Any, ...]]]:
    """Return the number of frames at that time, and the terms with the number of frames that contained each.

    The counts are computed back from the current ones, or counted again if much has changed.
    """
    most = MOST_LOOKUPS // max(1, len(facts["words"]) + len(facts["identifiers"]))
    with connection.cursor() as cursor:
        cursor.execute(_CHANGES, {**facts, "most_changes": most})
        changes, frames = cursor.fetchone()
        anew = changes > min(most, max(frames, 0))
        if anew:
            cursor.execute(_FRAMES_THEN, facts)
            [frames] = cursor.fetchone()
        cursor.execute(_TERMS_THEN if anew else _TERMS_BACK, facts)
        return int(frames), cursor.fetchall()


def _words(query: str) -> list[str]:
    """Return the words of a question as it spells them, then the parts of composite words."""
    whole = [*dict.fromkeys(_WORD.findall(query))][:MOST_TERMS]
    return [*dict.fromkeys([*whole, *(part for word in whole for part in _PART.findall(word))])]


def _spellings(terms: Iterable[tuple[str, Sequence[str]]]) -> dict[str, Spelling]:
    """Return the terms of each word."""
    found: dict[str, set[str]] = {}
    for term, words in terms:
        for word in words:
            found.setdefault(word, set()).add(term)
    return {word: Spelling(word=word, terms=frozenset(its)) for word, its in found.items()}


def _term(
    all_frames: int,
    made_of: Mapping[str, Spelling],
    term: str,
    words: Sequence[str],
    times: int,
    dimension: int,
    frames: int,
) -> Term:
    rarity = math.log(1 + (all_frames - frames + 0.5) / (frames + 0.5))
    return Term(
        term=term,
        spellings=tuple(made_of[word] for word in words),
        dimension=dimension,
        weight=max(round(times * rarity, 4), LEAST_WEIGHT),
        frames=frames,
        is_identifier=term.startswith("="),
    )


def sparse(weights: Mapping[int, float]) -> str:
    """Return weights by dimension as a sparse vector in Postgres' text format."""
    return "{" + ",".join(f"{at}:{weights[at]}" for at in sorted(weights)) + f"}}/{LEXEME_SPACE}"
