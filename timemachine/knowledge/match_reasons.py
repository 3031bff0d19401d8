"""Why a frame was found: the words and identifiers that it shares with the question, and what each was worth. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from timemachine.knowledge.question import Term


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """The words as the question has them, and its identifiers, each with its part of the BM25 score; most first."""

    terms: dict[str, float] = field(default_factory=dict)
    identifiers: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any] | None:
        """As it is kept with a hit; None where no word was shared."""
        parts = {"terms": self.terms, "identifiers": self.identifiers}
        return {name: part for name, part in parts.items() if part} or None


def matched(parts: Sequence[tuple[Term, float]]) -> Matched:
    """What the question shares with a frame, from what each of its terms gave to the frame's score."""
    terms: dict[str, float] = {}
    named: dict[str, float] = {}
    for term, part in sorted(parts, key=itemgetter(1), reverse=True):
        if term.is_identifier:
            named[term.term[1:]] = round(part, 4)
        else:  # a word is shown whole where the frame has all of it: then its parts add up
            word = term.spellings[0].word if len(term.spellings) == 1 else _spelled(term, parts)
            terms[word] = round(terms.get(word, 0.0) + part, 4)
    return Matched(terms=terms, identifiers=named)


def _spelled(term: Term, parts: Sequence[tuple[Term, float]]) -> str:
    """The first word that the frame has whole, else the last: a part, where the word has any."""
    shared = {each.term for each, _ in parts}
    whole = (each.word for each in term.spellings if each.terms.issubset(shared))
    return next(whole, term.spellings[-1].word)
