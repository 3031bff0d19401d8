"""A sentence as it is compared: its terms, numbers, names and polarity, each read when it is first asked for."""

from functools import cached_property
from typing import Final

from timemachine.text.pure.language.forms import root
from timemachine.text.pure.language.identifiers import identifier_spans
from timemachine.text.pure.language.names import Name, Vocabulary, names_beside
from timemachine.text.pure.language.numbers import Number, numbers_beside
from timemachine.text.pure.language.plain import plain
from timemachine.text.pure.language.polarity import Polarity, neutral_key, polarity
from timemachine.text.pure.language.terms import NEGATION, Term, terms_beside
from timemachine.text.pure.language.words import SOURCE_WORDS, stem

_SOURCE_STEMS: Final = frozenset(map(stem, SOURCE_WORDS))


class Statement:
    """One sentence, `text`, from `start` in the text it stands in."""

    def __init__(self, text: str, start: int = 0) -> None:
        self.text = text
        self.start = start

    @property
    def end(self) -> int:
        """Where the sentence ends in the text it stands in."""
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
        """What it says, in order: the keys of its terms, without what it says about its source ("the documents state").

        A direction ("rose", "fell") has one key whichever way it points; `polarity` knows the way.
        """
        return tuple(key for key in map(neutral_key, self.terms) if key not in _SOURCE_STEMS)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Its keys, each as the root that other forms of the word share ("sent" and "sending" have one)."""
        return tuple(map(root, self.keys))

    @cached_property
    def rooted(self) -> tuple[Term, ...]:
        """Its terms in order, with their roots for keys."""
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
        """Whether a term of it is part of a name of it."""
        return any(name.start <= term.start and term.end <= name.end for name in self.names)

    @cached_property
    def polarity(self) -> Polarity:
        """What it negates, and which way it points."""
        return polarity(self.terms)

    @cached_property
    def _identifiers(self) -> tuple[tuple[int, int], ...]:
        return tuple(identifier_spans(self.text))
