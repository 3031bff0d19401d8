"""Why a frame was found: the words and identifiers that it shares with the question, and what each was worth."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from timemachine.retrieval import ranking
from timemachine.retrieval.ranking import Question, Term


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """The words as the question has them, and its identifiers, each with its part of the BM25 score; most first."""

    terms: dict[str, float] = field(default_factory=dict)
    identifiers: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any] | None:
        """As it is kept with a hit; None where no word was shared."""
        parts = {"terms": self.terms, "identifiers": self.identifiers}
        return {name: part for name, part in parts.items() if part} or None


NOTHING: Final = Matched()


def matched(question: Question, rows: Sequence[int]) -> dict[int, Matched]:
    """What the question shares with each of some frame rows; a row that shares nothing is absent."""
    return {row: _matched(parts) for row, parts in ranking.why(question, rows).items()}


def _matched(parts: Sequence[tuple[Term, float]]) -> Matched:
    terms: dict[str, float] = {}
    named: dict[str, float] = {}
    for term, part in sorted(parts, key=lambda each: -each[1]):
        if term.is_identifier:
            named[term.term[1:]] = round(part, 4)
        else:  # of several terms in one word ("freon-12") the parts add up
            terms[term.word] = round(terms.get(term.word, 0.0) + part, 4)
    return Matched(terms=terms, identifiers=named)
