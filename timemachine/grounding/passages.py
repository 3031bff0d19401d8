"""The passages that an answer was given, sentence by sentence, and which of them says what a sentence says."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from timemachine.language.matching import SentenceIndex
from timemachine.language.names import Vocabulary
from timemachine.language.numbers import Held
from timemachine.language.plain import plain
from timemachine.language.polarity import neutral_key
from timemachine.language.sentences import sentences
from timemachine.language.statement import Statement

Run = tuple[str, ...]

# What runs of one, two and three terms count; a sentence too short for the longer ones is judged by the others.
_RUN_WEIGHTS: Final = (0.7, 0.2, 0.1)
# A sentence may rest on the best sentence of a passage and so many on either side of it.
_REACH: Final = 4
_CANDIDATES: Final = 4
# What it counts that several passages contain a sentence together.
_TOGETHER: Final = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text that the answer was given, and the frame that it is."""

    frame: int | str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A sentence of the passage with this `number` (from 0), and how far it and its neighbours contain a claim, 0 to 1."""

    number: int
    statement: Statement
    containment: float


class Source:
    """All passages read once: their sentences, their numbers and the words they mention."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._sentences = [
            (number, Statement(sentence.body, sentence.start))
            for number, passage in enumerate(passages)
            for sentence in sentences(passage.text)
        ]
        self._index = SentenceIndex([statement.keys for _, statement in self._sentences])
        self._quotes: dict[str, int] = {}
        for place, (_, statement) in enumerate(self._sentences):
            self._quotes.setdefault(plain(statement.text), place)
        # The clauses of a claim look up the same few sentences again and again.
        self._near = lru_cache(maxsize=32)(self._runs_around)
        self.vocabulary = Vocabulary(passage.text for passage in passages)
        self.numbers = Held(number for _, statement in self._sentences for number in statement.numbers)

    def quoted(self, claim: Statement) -> Place | None:
        """The first sentence that is this one but for its formatting."""
        place = self._quotes.get(plain(claim.text))
        return None if place is None else self._place(place, 1.0)

    def places(self, claim: Statement) -> list[Place]:
        """The sentences that contain most of a claim, best first; none where no term of it occurs."""
        return self._places(claim.keys)

    def together(self, claim: Statement) -> float:
        """How far a claim of several clauses is contained when each may rest on another passage."""
        clauses = _clauses(claim)
        if len(clauses) == 1:
            return 0.0
        weights = [math.fsum(map(self._index.weight, clause)) for clause in clauses]
        best = [max((place.containment for place in self._places(clause)), default=0.0) for clause in clauses]
        return _TOGETHER * math.sumprod(weights, best) / math.fsum(weights)

    def _places(self, keys: Run) -> list[Place]:
        found = [match.index for match in self._index.matches(keys, _CANDIDATES)]
        places = [self._place(place, self._containment(keys, self._near(place))) for place in found]
        return sorted(places, key=lambda place: -place.containment)

    def _place(self, place: int, containment: float) -> Place:
        number, statement = self._sentences[place]
        return Place(number=number, statement=statement, containment=containment)

    def _runs_around(self, place: int) -> set[Run]:
        """The runs of a sentence and its neighbours in the passage."""
        number = self._sentences[place][0]
        near = self._sentences[max(0, place - _REACH) : place + _REACH + 1]
        return _runs(tuple(key for other, statement in near if other == number for key in statement.keys))

    def _containment(self, keys: Run, held: set[Run]) -> float:
        """The weighted share of the runs of some terms that are held, the rarer terms counting more."""
        shares = [
            (weight, self._share([run for run in _runs(keys) if len(run) == length], held))
            for length, weight in enumerate(_RUN_WEIGHTS, start=1)
            if length <= len(keys)
        ]
        return sum(weight * share for weight, share in shares) / sum(weight for weight, _ in shares)

    def _share(self, asked: Iterable[Run], held: set[Run]) -> float:
        weighed = [(math.fsum(map(self._index.weight, run)), run in held) for run in sorted(asked)]
        return math.fsum(weight for weight, found in weighed if found) / math.fsum(
            weight for weight, _ in weighed
        )


def _runs(keys: Run) -> set[Run]:
    """All runs of one, two and three terms."""
    lengths = range(1, len(_RUN_WEIGHTS) + 1)
    return {keys[at : at + length] for length in lengths for at in range(len(keys) - length + 1)}


def _clauses(claim: Statement) -> list[Run]:
    """The keys of a claim, clause by clause."""
    said = set(claim.keys)
    clauses: list[list[str]] = [[]]
    for term in claim.terms:
        if term.opens:
            clauses.append([])
        if (key := neutral_key(term)) in said:
            clauses[-1].append(key)
    return [tuple(clause) for clause in clauses if clause]
