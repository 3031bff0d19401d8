"""The retrievers of a recall, in SQL: steps with any of the words, ranked by BM25, and steps of similar meaning.

Questions are full sentences, so their words are alternatives: a step need not contain all of them. Each word is
weighted by its rarity in the project.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db import connection

from timemachine.core.accounts.models import Project
from timemachine.core.database import SqlParameters
from timemachine.knowledge.pure.cutoff import COSINE_FLOOR
from timemachine.knowledge.pure.identifiers import identifiers
from timemachine.knowledge.question import IDENTIFIER_TIMES, QUOTED, sparse
from timemachine.knowledge.ranking import dense
from timemachine.memory.search.counting import MANY, STEPS_WITH, indexed_steps
from timemachine.memory.search.index_rows import EVERY_STEP, leading_dimensions
from timemachine.memory.search.indexing import MODEL
from timemachine.memory.search.pure.payload_text import unmarked
from timemachine.memory.search.recall.conditions import IMPORTANCE, JOIN_SIGNIFICANCE, StepScope
from timemachine.memory.search.retrievers import Candidate
from timemachine.recording.sessions.pure.vocabulary import DEFAULT_IMPORTANCE

WINDOW: Final = 100
"""How many steps each retriever ranks; the fusion was measured with this number."""
MOST_TERMS: Final = 48
"""How many words and how many identifiers of a question are looked up; the rest counts only by meaning."""
MOST_COUNTED: Final = MANY
"""A word in this many steps or more is common: it counts in scores, but steps are looked up by rarer words."""
MOST_LOOKED_UP: Final = 6_000
"""About how many steps are looked up by their rarest words."""
MOST_COMMON: Final = 3
"""If every word is common, this many of them must occur."""
REACH: Final = 1_500
"""How many of the steps with the nearest index rows are compared by their complete vectors."""

_TERMS: Final = f"""
SELECT term, tm_term_dimension(term), times, least(%(many)s, coalesce(({STEPS_WITH.format("term")}), (
    SELECT count(*) FROM (
        SELECT FROM tm_searched_action x
        WHERE x.project_id = %(project)s AND x.words @@ {QUOTED.format("term")}::tsquery LIMIT %(many)s
    ) AS holding
)))
FROM (
    (SELECT lexeme AS term, cardinality(positions) AS times
     FROM unnest(to_tsvector('pg_catalog.english', %(words)s)) ORDER BY positions[1] LIMIT %(most)s)
    UNION ALL
    SELECT '=' || each, {IDENTIFIER_TIMES} FROM unnest(%(identifiers)s::text[]) AS each
) AS asked
"""  # noqa: S608  # constants of this file
_BY_WORDS: Final = """
SELECT w.action_id, w.session_id, -(w.weights <#> %(question)s::sparsevec) AS score
FROM tm_searched_action w {narrowed}
WHERE w.project_id = %(project)s AND w.words @@ %(query)s::tsquery {among}
ORDER BY score DESC, w.action_id DESC LIMIT %(window)s
"""
_NEAREST: Final = """
SELECT action_id, session_id, 1 - distance FROM (
    SELECT m.action_id, m.session_id, (m.vector <=> %(vector)s::halfvec) + 0 AS distance
    FROM tm_action_meaning m WHERE m.action_id = ANY(ARRAY(SELECT action_id FROM near))
    AND m.model = %(model)s ORDER BY distance LIMIT %(window)s
) AS nearest WHERE distance < %(farthest)s
"""
_BY_MEANING: Final = f"""
WITH near AS MATERIALIZED (
    SELECT x.action_id FROM tm_action_sketch x {{joined}} WHERE {{among}} AND x.vector IS NOT NULL
    ORDER BY x.vector <#> %(sketch)s::halfvec LIMIT %(reach)s
)
{_NEAREST} ORDER BY distance, action_id DESC
"""  # noqa: S608  # constants of this file
_BY_BOTH: Final = f"""
WITH among AS MATERIALIZED (
    SELECT x.action_id, x.vector <#> %(sketch)s::halfvec AS far FROM tm_action_sketch x {{joined}} WHERE {{among}}
), near AS MATERIALIZED (
    SELECT action_id FROM among WHERE far IS NOT NULL ORDER BY far LIMIT %(reach)s
)
SELECT true, * FROM ({_BY_WORDS.format(narrowed="JOIN among x ON x.action_id = w.action_id", among="")}) AS by_words
UNION ALL SELECT false, * FROM ({_NEAREST}) AS by_meaning
"""  # noqa: S608  # constants of this file
_BY_IMPORTANCE: Final = f"""
SELECT x.action_id, x.session_id, coalesce({IMPORTANCE}, %(normal)s) AS worth FROM {EVERY_STEP} x {JOIN_SIGNIFICANCE}
WHERE {{among}} AND NOT EXISTS (
    SELECT FROM tm_erased_turn gone WHERE gone.session_id = x.session_id AND gone.sequence = x.sequence
)
ORDER BY worth DESC, x.at DESC NULLS LAST, x.action_id DESC LIMIT %(limit)s
"""  # noqa: S608  # constants
_OF_WORDS: Final = "JOIN tm_action_sketch x ON x.action_id = w.action_id"


@dataclass(frozen=True, slots=True)
class Term:
    """A stem of the question, or an identifier after "=", with its weight, and how many steps contain it, up to
    `MOST_COUNTED`.
    """

    term: str
    dimension: int
    weight: float
    steps: int

    @property
    def is_common(self) -> bool:
        return self.steps >= MOST_COUNTED


def terms_of(project: Project, text: str) -> list[Term]:
    """Return the words of a question that occur in the project, rarest first."""
    all_steps, grown = indexed_steps(project.id)
    facts: SqlParameters = {
        "project": project.id,
        "words": unmarked(text),
        "identifiers": list(identifiers(text))[:MOST_TERMS],
        "most": MOST_TERMS,
        "many": MOST_COUNTED,
        "grown": grown,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TERMS, facts)
        found = [
            Term(term, dimension, _rarity(times, steps, all_steps), steps)
            for term, dimension, times, steps in cursor
            if steps
        ]
    return sorted(found, key=lambda term: (term.steps, term.term))


def _rarity(times: int, steps: int, all_steps: int) -> float:
    """Return the weight of a term: Robertson and Zaragoza's idf (2009) times its number of occurrences in the
    question.

    Common terms are not counted completely; they are assumed to be in a tenth of all steps.
    """
    holding = max(steps, all_steps / 10) if steps >= MOST_COUNTED else steps
    return round(times * math.log(1 + max(0.5, all_steps - holding + 0.5) / (holding + 0.5)), 4)


def by_both(
    among: StepScope, terms: Sequence[Term], vector: Sequence[float]
) -> tuple[list[Candidate], list[Candidate]]:
    """Return the results of both retrievers. With conditions this is one query, which reads the matching steps
    once.
    """
    if not (among.conditions and terms and vector):
        return by_words(among, terms), by_meaning(among, vector)
    sql = _BY_BOTH.format(joined=among.joined, among=among.where)
    with connection.cursor() as cursor:
        cursor.execute(sql, among.facts | _facts_of_words(terms) | _facts_of_meaning(vector))
        found = cursor.fetchall()
    words, meaning = (
        [
            Candidate(action=row, session=session, score=score)
            for is_word, row, session, score in found
            if is_word == is_lexical
        ]
        for is_lexical in (True, False)
    )
    return words, meaning


def by_words(among: StepScope, terms: Sequence[Term]) -> list[Candidate]:
    """Return the steps that contain one of the rarest words (or several common ones), ranked by all words, best
    first.
    """
    if not terms:
        return []
    narrowed = f"{_OF_WORDS} {among.joined}" if among.conditions else ""
    where = f"AND {among.where}" if among.conditions else ""
    return _ranked(_BY_WORDS.format(narrowed=narrowed, among=where), among.facts | _facts_of_words(terms))


def _facts_of_words(terms: Sequence[Term]) -> SqlParameters:
    rare = _rare(terms)
    chosen, either = (rare, "|") if rare else (terms[:MOST_COMMON], "&")
    question = sparse({term.dimension: term.weight for term in terms})
    return {"question": question, "query": either.join(map(_quoted, chosen)), "window": WINDOW}


def _quoted(term: Term) -> str:
    """Return the term as a word of a tsquery."""
    written = term.term.replace("\\", "\\\\").replace("'", "''")
    return f"'{written}'"


def _rare(terms: Sequence[Term]) -> list[Term]:
    """Return the rarest terms that are not common, up to about `MOST_LOOKED_UP` steps in total."""
    chosen: list[Term] = []
    total = 0
    for term in terms:
        total += term.steps
        if term.is_common or (chosen and total > MOST_LOOKED_UP):
            break
        chosen.append(term)
    return chosen


def by_meaning(among: StepScope, vector: Sequence[float]) -> list[Candidate]:
    """Return the steps nearest to a vector, above the least similarity, best first, among those with the nearest
    index rows.
    """
    if not vector:
        return []
    sql = _BY_MEANING.format(joined=among.joined, among=among.where)
    return _ranked(sql, among.facts | _facts_of_meaning(vector))


def _facts_of_meaning(vector: Sequence[float]) -> SqlParameters:
    return {
        "vector": dense(vector),
        "sketch": dense(leading_dimensions(vector)),
        "model": MODEL.name,
        "farthest": 1 - COSINE_FLOOR,
        "reach": REACH,
        "window": WINDOW,
    }


def most_important(among: StepScope, limit: int) -> list[Candidate]:
    """Return the most important steps, among equals the latest first. Steps without importance count as `normal`;
    deleted ones are left out.
    """
    facts = {"normal": DEFAULT_IMPORTANCE["normal"], "limit": limit}
    return _ranked(_BY_IMPORTANCE.format(among=among.where), among.facts | facts)


def _ranked(sql: str, facts: SqlParameters) -> list[Candidate]:
    with connection.cursor() as cursor:
        cursor.execute(sql, facts)
        return [Candidate(action=row, session=session, score=score) for row, session, score in cursor]
