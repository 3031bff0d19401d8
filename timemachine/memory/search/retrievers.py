"""The two retrievers of a search, in SQL: steps with the words, ranked by BM25 without rarity, and steps of
similar meaning.

Both search one project only. All its index rows are scanned for meaning: an approximate index over all projects,
filtered to one, would miss many.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection

from timemachine.core import prepared_statements
from timemachine.core.database import SqlParameters
from timemachine.core.pure.errors import Unavailable
from timemachine.knowledge.embedding import table
from timemachine.knowledge.pure.cutoff import COSINE_FLOOR
from timemachine.knowledge.pure.fusion import fuse
from timemachine.knowledge.question import IDENTIFIER_TIMES, QUOTED, sparse
from timemachine.knowledge.ranking import dense
from timemachine.memory.search.filters import Scope
from timemachine.memory.search.index_rows import leading_dimensions
from timemachine.memory.search.indexing import MODEL
from timemachine.memory.search.pure.payload_text import unmarked
from timemachine.memory.search.pure.query import Clause, ParsedQuery

WINDOW: Final = 1_000
"""How many steps each retriever ranks at most, `MOST_OF_SESSION` of any one session."""
REACH: Final = 3_000
"""How many of the steps with the nearest index rows are compared by their complete vectors."""

_ENGLISH: Final = "pg_catalog.english"
_LEXEMES: Final = """
SELECT lexeme, tm_term_dimension(lexeme), %(once)s FROM unnest(to_tsvector('pg_catalog.english', %(words)s))
UNION ALL
SELECT '=' || each, tm_term_dimension('=' || each), %(identifier_times)s FROM unnest(%(identifiers)s::text[]) AS each
"""
_STEMS: Final = "SELECT word, tsvector_to_array(to_tsvector('pg_catalog.english', word)) FROM unnest(%(words)s::text[]) AS word"
_BY_WORDS: Final = f"""
WITH holding AS MATERIALIZED (
    SELECT x.action_id, x.session_id, -(x.weights <#> %(question)s::sparsevec) AS score
    FROM tm_searched_action x {{joined}}
    WHERE {{conditions}} AND x.words @@ %(query)s::tsquery
), best_of_part AS (
    SELECT session_id, top, sum(number) OVER (PARTITION BY session_id) AS number,
           row_number() OVER (PARTITION BY session_id ORDER BY top DESC) AS place
    FROM (
        SELECT session_id, count(*) AS number, max(score) AS top FROM holding
        GROUP BY session_id, hashint8(action_id) & (
            SELECT CASE WHEN count(*) < {WINDOW} THEN %(parts)s - 1 ELSE 0 END
            FROM tm_indexed_session WHERE project_id = %(project)s
        )
    ) AS part
), enough AS (
    SELECT session_id, max(number)::bigint AS number, greatest(max(top) FILTER (WHERE place = %(each)s), (
        SELECT top FROM best_of_part WHERE place <= %(each)s ORDER BY top DESC OFFSET %(window)s - 1 LIMIT 1
    )) AS least
    FROM best_of_part GROUP BY session_id
)
SELECT action_id, session_id, score, number FROM (
    SELECT action_id, session_id, score, number,
           row_number() OVER (PARTITION BY session_id ORDER BY score DESC, action_id) AS place
    FROM holding JOIN enough USING (session_id) WHERE least IS NULL OR score >= least
) AS placed
WHERE place <= %(each)s ORDER BY score DESC, action_id DESC LIMIT %(window)s
"""  # noqa: S608  # constants of this file
"""Sorting all steps that contain a common word takes most of a search. So the steps of a session are divided into
`parts`, more than are chosen `each`, and the best score of each part is found first: steps below `least`, the
lowest score that would be chosen among these, of their session or of all, cannot be among the results. Where
there are more sessions than results, every session is one part.
"""
_BY_MEANING: Final = """
WITH near AS MATERIALIZED (
    SELECT x.action_id FROM tm_action_sketch x {joined}
    WHERE {conditions} AND x.vector IS NOT NULL {binding}
    ORDER BY x.vector <#> %(sketch)s::halfvec LIMIT %(reach)s
)
SELECT action_id, session_id, 1 - distance FROM (
    SELECT m.action_id, m.session_id, (m.vector <=> %(vector)s::halfvec) + 0 AS distance
    FROM tm_action_meaning m WHERE m.action_id = ANY(ARRAY(SELECT action_id FROM near)) AND m.model = %(embedding)s
    ORDER BY distance LIMIT %(window)s
) AS nearest WHERE distance < %(farthest)s ORDER BY distance, action_id DESC
"""
_BINDING: Final = """
AND EXISTS (SELECT FROM tm_searched_action w WHERE w.action_id = x.action_id AND w.words @@ %(binding)s::tsquery)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseQuery:
    """A query as Postgres reads it. `query` is empty if every word is too common to be indexed.

    `terms` are the stems and identifiers to find, each with its dimension and weight.
    """

    query: str
    binding: str
    terms: tuple[tuple[str, int, float], ...]

    @property
    def vector(self) -> str:
        """Return the terms as a sparse vector in Postgres' text format."""
        return sparse({dimension: weight for _, dimension, weight in self.terms})

    @property
    def stems(self) -> frozenset[str]:
        """Return the stems of the words."""
        return frozenset(term for term, *_ in self.terms if not term.startswith("="))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A step that a retriever found, its session and its score; `number` is how many steps of its session contain
    the words.
    """

    action: int
    session: UUID
    score: float
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSteps:
    """The rows of the steps that were found: the score of each, its score by each retriever that found it, and its
    session.
    """

    score: Mapping[int, float]
    by_retriever: Mapping[str, Mapping[int, float]]
    sessions: Mapping[int, UUID]

    @classmethod
    def in_order(cls, found: Sequence[Candidate]) -> "RankedSteps":
        """Return steps that no retriever found, with their own scores."""
        return cls(score=_scores(found), by_retriever={}, sessions={one.action: one.session for one in found})


def fused(text: Sequence[Candidate], semantic: Sequence[Candidate], mode: str) -> RankedSteps:
    """Return the results of both retrievers, scored by the one of the mode, or by both in the mode `hybrid`."""
    by_retriever = {"text": _scores(text), "semantic": _scores(semantic)}
    score = by_retriever.get(mode)
    if score is None:
        score = fuse(by_retriever["text"], by_retriever["semantic"], MODEL.semantic_weight)
    return RankedSteps(
        score=score,
        by_retriever=by_retriever,
        sessions={one.action: one.session for one in (*text, *semantic)},
    )


def vector_of(text: str, mode: str) -> tuple[list[float], str | None]:
    """Return the vector of a text, empty in the mode `text` and if the model is missing, and then why.

    Raises `Unavailable` if the model is missing and the mode is `semantic`.
    """
    if mode == "text":
        return [], None
    try:
        return table.query_vector(MODEL, text), None
    except Unavailable as why:
        if mode == "semantic":
            raise
        return [], why.message


def _scores(found: Sequence[Candidate]) -> dict[int, float]:
    return {one.action: one.score for one in found}


def database_query(parsed: ParsedQuery) -> DatabaseQuery:
    """Return the query as Postgres reads it. Two queries."""
    facts: SqlParameters = {}
    query, binding = (_disjunction(groups, facts) for groups in (parsed.groups, parsed.binding))
    named = {clause.identifier for clause in parsed.required if clause.identifier}
    words: SqlParameters = {
        "words": unmarked(parsed.words),
        "identifiers": sorted(named),
        "once": 1,
        "identifier_times": IDENTIFIER_TIMES,
    }
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT ({query})::text, ({binding})::text", facts)
        found = cursor.fetchone()
        cursor.execute(_LEXEMES, words)
        return DatabaseQuery(query=found[0], binding=found[1], terms=tuple(cursor.fetchall()))


def by_words(question: DatabaseQuery, scope: Scope, each: int) -> list[Candidate]:
    """Return the steps that contain the words, best first, at most `each` of each session. One query."""
    if not question.query:
        return []
    sql = _BY_WORDS.format(joined=scope.joined, conditions=scope.conditions)
    facts = {
        "question": question.vector,
        "query": question.query,
        "each": each,
        "parts": 1 << each.bit_length(),
        "window": WINDOW,
    }
    with connection.cursor() as cursor:
        cursor.execute(sql, scope.facts | facts)
        return [
            Candidate(action=row, session=of, score=score, number=number) for row, of, score, number in cursor
        ]


def by_meaning(vector: Sequence[float], question: DatabaseQuery, scope: Scope, each: int) -> list[Candidate]:
    """Return the steps nearest to a vector, above the least similarity, best first, at most `each` of each
    session, among those with the nearest index rows. One query.
    """
    if not vector:
        return []
    sql = _BY_MEANING.format(
        joined=scope.joined, conditions=scope.conditions, binding=_BINDING if question.binding else ""
    )
    facts = {
        "vector": dense(vector),
        "sketch": dense(leading_dimensions(vector)),
        "reach": REACH,
        "embedding": MODEL.name,
        "binding": question.binding,
        "farthest": 1 - COSINE_FLOOR,
        "window": WINDOW,
    }
    with connection.cursor() as cursor:
        cursor.execute(sql, scope.facts | facts)
        near = [Candidate(action=row, session=of, score=score) for row, of, score in cursor]
    return _few_of_each(near, each)


def lexemes_of(words: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the stems of each word. One query."""
    return {
        word: frozenset(stems)
        for word, stems in prepared_statements.fetch_rows(_STEMS, {"words": list(words)})
    }


def _few_of_each(ranked: Sequence[Candidate], each: int) -> list[Candidate]:
    seen: dict[UUID, int] = {}
    chosen = []
    for one in ranked:
        seen[one.session] = seen.get(one.session, 0) + 1
        if seen[one.session] <= each:
            chosen.append(one)
    return chosen


def _disjunction(groups: Sequence[Sequence[Clause]], facts: SqlParameters) -> str:
    """Return a tsquery of alternative groups as SQL, and add its texts to the parameters."""
    return " || ".join(f"({_conjunction(group, facts)})" for group in groups) or "''::tsquery"


def _conjunction(group: Sequence[Clause], facts: SqlParameters) -> str:
    return " && ".join(_clause(clause, facts) for clause in group)


def _clause(clause: Clause, facts: SqlParameters) -> str:
    name = _fact(facts, unmarked(clause.text))
    sql = f"phraseto_tsquery('{_ENGLISH}', {name})"
    if clause.identifier is not None:
        sql = f"({QUOTED.format(_fact(facts, '=' + clause.identifier))}::tsquery || {sql})"
    return f"!!({sql})" if clause.negated else sql


def _fact(facts: SqlParameters, value: str) -> str:
    name = f"said_{len(facts)}"
    facts[name] = value
    return f"%({name})s"
