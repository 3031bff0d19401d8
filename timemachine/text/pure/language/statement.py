"""A sentence with what is compared about it: terms, numbers, names and polarity, each computed when first needed."""

from functools import cached_property
from typing import Final

from timemachine.text.pure.language.identifiers import identifier_spans
from timemachine.text.pure.language.names import Name, Vocabulary, names_beside
from timemachine.text.pure.language.numbers import Number, numbers_beside
from timemachine.text.pure.language.plain import plain
from timemachine.text.pure.language.polarity import Polarity, neutral_key, polarity
from timemachine.text.pure.language.terms import NEGATION, Term, terms_beside
from timemachine.text.pure.language.words import SOURCE_WORDS, root, stem

_SOURCE_STEMS: Final = frozenset(map(stem, SOURCE_WORDS))


class Statement:
    """A sentence, which begins at `start` in its text."""

    def __init__(self, text: str, start: int = 0) -> None:
        self.text = text
        self.start = start

    @property
    def end(self) -> int:
        """Where the sentence ends in its text."""
        return self.start + len(self.text)

    @cached_property
    def plain(self) -> str:
        """Its text without formatting."""
        return plain(self.text)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Its terms in order."""
        return terms_beside(self.text, self._identifiers, self.numbers)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of its terms in order, without what it says about its source ("the documents state").

        A direction ("rose", "fell") has the same key both ways; `polarity` has the way.
        """
        return tuple(key for key in map(neutral_key, self.terms) if key not in _SOURCE_STEMS)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The roots of its keys, which forms of a word share ("sent" and "sending")."""
        return tuple(map(root, self.keys))

    @cached_property
    def rooted(self) -> tuple[Term, ...]:
        """Its terms in order, with their roots as keys."""
        return tuple(
            Term(key=root(term.key), kind=term.kind, start=term.start, end=term.end, opens=term.opens)
            for term in self.terms
        )

    @cached_property
    def topic(self) -> tuple[str, ...]:
        """Its keys without negations."""
        return tuple(key for key in self.keys if key != NEGATION)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Its numbers in order."""
        return numbers_beside(self.text, self._identifiers)

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """Its names in order."""
        return names_beside(self.text, self._identifiers)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words it mentions."""
        return Vocabulary([self.text])

    def names_at(self, term: Term) -> bool:
        """Return whether a term of it is part of one of its names."""
        return any(name.start <= term.start and term.end <= name.end for name in self.names)

    @cached_property
    def polarity(self) -> Polarity:
        """What it negates, and its directions."""
        return polarity(self.terms)

    @cached_property
    def _identifiers(self) -> tuple[tuple[int, int], ...]:
        return tuple(identifier_spans(self.text))
