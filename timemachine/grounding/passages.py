"""The passages that an answer was given, sentence by sentence, and which of them says what a sentence says."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from timemachine.grounding.weights import weight
from timemachine.language.forms import root
from timemachine.language.names import Vocabulary
from timemachine.language.numbers import Held
from timemachine.language.plain import plain
from timemachine.language.polarity import neutral_key
from timemachine.language.sentences import sentences
from timemachine.language.statement import Statement

Keys = tuple[str, ...]
Run = str | tuple[str, ...]

# What single terms, and runs of two and of three, count; a sentence too short for the longer ones is judged by the others.
_RUN_WEIGHTS: Final = (0.7, 0.2, 0.1)
# A sentence may rest on the best sentence of a passage and so many on either side of it.
_REACH: Final = 4
# So many sentences of a passage, and of all passages, are looked at more closely.
_OF_ONE: Final = 2
_OF_ALL: Final = 24
# A term that stands in more sentences is too common to look a sentence up by, as long as the claim has a rarer one.
_COMMON: Final = 200
# What it counts that several passages contain a sentence together.
_TOGETHER: Final = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text that the answer was given, and the frame that it is."""

    frame: int | str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A sentence of the passage with this `number` (from 0).

    `containment` is how far it and its neighbours contain a claim, `own` which share of the claim's terms it has itself, both
    0 to 1. `beside` are the sentences just before and after it.
    """

    number: int
    statement: Statement
    beside: tuple[Statement, ...]
    containment: float
    own: float


class Source:
    """All passages read once: their sentences, their numbers and the words they mention."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._sentences = [
            (number, Statement(sentence.body, sentence.start))
            for number, passage in enumerate(passages)
            for sentence in sentences(passage.text)
        ]
        self._holders: dict[str, list[int]] = defaultdict(list)
        self._quotes: dict[str, int] = {}
        for place, (_, statement) in enumerate(self._sentences):
            self._quotes.setdefault(plain(statement.text), place)
            for key in set(statement.roots):
                self._holders[key].append(place)
        # The clauses of a claim look up the same few sentences again and again.
        self._near = lru_cache(maxsize=64)(self._runs_around)
        self.vocabulary = Vocabulary(passage.text for passage in passages)
        self.numbers = Held(number for _, statement in self._sentences for number in statement.numbers)

    def mentions(self, key: str) -> bool:
        """Whether any passage has a term of this root."""
        return key in self._holders

    def quoted(self, claim: Statement) -> Place | None:
        """The first sentence that is this one but for its formatting."""
        place = self._quotes.get(plain(claim.text))
        return None if place is None else self._place(place, 1.0, 1.0)

    def places(self, claim: Statement) -> list[Place]:
        """The sentences that have most of a claim, best first; none where no term of it occurs."""
        return self._places(claim.roots)

    def together(self, claim: Statement) -> float:
        """How far a claim of several clauses is contained when each may rest on another passage."""
        clauses = _clauses(claim)
        if len(clauses) == 1:
            return 0.0
        weights = [sum(map(weight, clause)) for clause in clauses]
        best = [max((place.containment for place in self._places(clause)), default=0.0) for clause in clauses]
        held = sum(share * part for share, part in zip(weights, best, strict=True))
        return _TOGETHER * held / sum(weights)

    def _places(self, keys: Keys) -> list[Place]:
        asked = _Asked(keys)
        places = [
            self._place(place, asked.held_by(self._near(place)), own) for place, own in self._candidates(keys)
        ]
        return sorted(places, key=lambda place: (-place.own, -place.containment))

    def _candidates(self, keys: Keys) -> list[tuple[int, float]]:
        """The sentences that share most with the keys, with what they share: the best of each passage, so that none hides another."""
        shared: dict[int, float] = defaultdict(float)
        for key in self._telling(keys):
            for place in self._holders[key]:
                shared[place] += weight(key)
        whole = sum(map(weight, dict.fromkeys(keys)))
        best = sorted(shared, key=lambda place: (-shared[place], place))
        taken: dict[int, int] = defaultdict(int)
        found: list[tuple[int, float]] = []
        for place in best:
            number = self._sentences[place][0]
            taken[number] += 1
            if taken[number] <= _OF_ONE:
                found.append((place, shared[place] / whole))
        return found[:_OF_ALL]

    def _telling(self, keys: Keys) -> list[str]:
        held = [key for key in dict.fromkeys(keys) if key in self._holders]
        rare = [key for key in held if len(self._holders[key]) <= _COMMON]
        return rare or held[:1]

    def _place(self, place: int, containment: float, own: float) -> Place:
        number, statement = self._sentences[place]
        beside = [self._sentences[at] for at in (place - 1, place + 1) if 0 <= at < len(self._sentences)]
        return Place(
            number=number,
            statement=statement,
            beside=tuple(each for other, each in beside if other == number),
            containment=containment,
            own=own,
        )

    def _runs_around(self, place: int) -> frozenset[Run]:
        """The runs of a sentence and its neighbours in the passage."""
        number = self._sentences[place][0]
        near = self._sentences[max(0, place - _REACH) : place + _REACH + 1]
        keys = tuple(key for other, statement in near if other == number for key in statement.roots)
        return frozenset(run for runs in _runs(keys) for run in runs)


class _Asked:
    """The runs of some keys with what each counts, ready to be looked for in one place after another."""

    __slots__ = ("_counts",)

    def __init__(self, keys: Keys) -> None:
        lengths = [
            (share, {run: _weight_of(run) for run in runs})
            for share, runs in zip(_RUN_WEIGHTS, _runs(keys), strict=True)
        ]
        whole = sum(share for share, weights in lengths if weights)
        self._counts = {
            run: share / whole * each / sum(weights.values())
            for share, weights in lengths
            for run, each in weights.items()
        }

    def held_by(self, runs: frozenset[Run]) -> float:
        """The share of the runs that are there, 0 to 1."""
        return min(1.0, sum((count for run, count in self._counts.items() if run in runs), start=0.0))


def _weight_of(run: Run) -> float:
    return weight(run) if isinstance(run, str) else sum(map(weight, run))


def _runs(keys: Keys) -> tuple[Iterable[Run], Iterable[Run], Iterable[Run]]:
    """All runs of one, two and three keys, each once and in order."""
    return (
        dict.fromkeys(keys),
        dict.fromkeys(pairwise(keys)),
        dict.fromkeys(zip(keys, keys[1:], keys[2:], strict=False)),
    )


def _clauses(claim: Statement) -> list[Keys]:
    """The roots of a claim, clause by clause."""
    return [tuple(clause) for clause in _split(claim) if clause]


def _split(claim: Statement) -> Iterator[list[str]]:
    said = set(claim.keys)
    clause: list[str] = []
    for term in claim.terms:
        if term.opens:
            yield clause
            clause = []
        if (key := neutral_key(term)) in said:
            clause.append(root(key))
    yield clause
