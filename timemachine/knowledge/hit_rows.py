"""Read the frames of a find in one statement: each with its text, and with the words and identifiers that it
shares with the question.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

from timemachine.core import prepared_statements
from timemachine.core.payloads.queries import text_of
from timemachine.core.payloads.stored import received, sent_sql
from timemachine.core.pure.errors import TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.postgres_text import original, original_json
from timemachine.knowledge.question import Question, Term


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedTerms:
    """The words and identifiers of the question that a frame contains, each with its part of the BM25 score,
    largest first.
    """

    terms: dict[str, float] = field(default_factory=dict)
    identifiers: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any] | None:
        """Return the JSON object that is stored with a hit, or None if no word is shared."""
        parts = {"terms": self.terms, "identifiers": self.identifiers}
        return {name: part for name, part in parts.items() if part} or None


def matched_terms(parts: Sequence[tuple[Term, float]]) -> MatchedTerms:
    """Return what the question shares with a frame, given what each of its terms added to the frame's score."""
    terms: dict[str, float] = {}
    named: dict[str, float] = {}
    for term, part in sorted(parts, key=itemgetter(1), reverse=True):
        if term.is_identifier:
            named[term.term[1:]] = round(part, 4)
        else:  # a word is shown complete if the frame has all its parts, whose scores then add up
            word = term.spellings[0].word if len(term.spellings) == 1 else _spelling_shown(term, parts)
            terms[word] = round(terms.get(word, 0.0) + part, 4)
    return MatchedTerms(terms=terms, identifiers=named)


def _spelling_shown(term: Term, parts: Sequence[tuple[Term, float]]) -> str:
    """Return the first word that the frame contains completely, else the last one, which is a part if the word has
    parts.
    """
    shared = {each.term for each, _ in parts}
    whole = (each.word for each in term.spellings if each.terms.issubset(shared))
    return next(whole, term.spellings[-1].word)


LARGEST_FINDING = 64 * 1024 * 1024
MOST_EXPLAINED = 64
"""How many terms, those with the highest weights, explain a hit."""

_READ = f"""
SELECT f.id, f.number, f.version, f.title, f.uri, f.metadata, f.sha256, why.places, why.parts,
       sum(p.size) OVER () AS total_bytes, CASE WHEN sum(p.size) OVER () <= %(largest)s THEN {sent_sql("p")} END
FROM tm_frame AS f JOIN tm_payload AS p ON p.id = f.payload_id
CROSS JOIN LATERAL (
    SELECT array_agg(asked.place) AS places, array_agg(-(w.weights <#> asked.vector)) AS parts
    FROM tm_frame_weights AS w, unnest(%(vectors)s::sparsevec[]) WITH ORDINALITY AS asked(vector, place)
    WHERE w.frame_id = f.id AND w.weights <#> asked.vector < 0
) AS why
WHERE f.id = ANY(%(rows)s::bigint[])
"""  # noqa: S608  # names of columns


class HitRow(NamedTuple):
    """A frame as it was read for a hit."""

    number: int
    version: int
    title: str
    uri: str
    metadata: JsonObject
    sha256: str
    text: str
    matched: MatchedTerms


def read_hit_rows(rows: Sequence[int], question: Question) -> dict[int, HitRow]:
    """Return the frames with these row ids, and how much of the BM25 score each term of the question added.

    The parts add up to the score. If the question has more than `MOST_EXPLAINED` terms, those with the lowest
    weights are left out. Raises `TooLarge` if the passages have more than `LARGEST_FINDING` bytes in total.
    """
    explained = question.terms[:MOST_EXPLAINED]
    facts = {
        "rows": list(rows),
        "vectors": [term.vector for term in explained],
        "largest": LARGEST_FINDING,
    }
    frames = {}
    for (
        row,
        number,
        version,
        title,
        uri,
        metadata,
        sha256,
        places,
        parts,
        total_bytes,
        data,
    ) in prepared_statements.fetch_rows(_READ, facts):
        if total_bytes > LARGEST_FINDING:
            raise TooLarge(
                f"These passages have {total_bytes:,} bytes in total; one find can return {LARGEST_FINDING:,}. Use a smaller "
                "`top_k`.",
                limit_bytes=LARGEST_FINDING,
            )
        shared = [(explained[place - 1], part) for place, part in zip(places or (), parts or (), strict=True)]
        frames[row] = HitRow(
            number=number,
            version=version,
            title=original(title),
            uri=original(uri),
            metadata=original_json(json.loads(metadata)),
            sha256=sha256,
            text=text_of(received(data)),
            matched=matched_terms(shared),
        )
    return frames
