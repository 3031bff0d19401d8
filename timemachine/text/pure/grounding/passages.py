"""The passages that an answer was given, sentence by sentence, and which of them says what a sentence says."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from timemachine.core.pure.text_caches import cleared_on_erasure
from timemachine.text.pure.grounding import bounds
from timemachine.text.pure.grounding.runs import Keys, Written
from timemachine.text.pure.grounding.term_weights import weight
from timemachine.text.pure.language.forms import root
from timemachine.text.pure.language.names import Vocabulary, Words, words_of
from timemachine.text.pure.language.numbers import Held
from timemachine.text.pure.language.polarity import neutral_key
from timemachine.text.pure.language.sentences import Sentence
from timemachine.text.pure.language.statement import Statement

# So many sentences of a passage, and of all passages, are looked at more closely.
_OF_ONE: Final = 2
_OF_ALL: Final = 24
# A term that stands in more sentences is too common to look a sentence up by, as long as the claim has a rarer one.
_COMMON: Final = 200
# What it counts that several passages contain a sentence together.
MOST_TOGETHER: Final = 0.9
# So many passages of at most so many characters are kept as they were read, some 20 KB for each 1,000 characters.
_KEPT: Final = 256
_SHORT: Final = 4_000


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
    """All passages read once: their sentences, their numbers and the words they mention.

    `unread` is how many characters of them are beyond what is read (`timemachine.text.pure.grounding.bounds`). What a quotation does
    not need is made when it is first asked for.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        read = bounds.beginnings([passage.text for passage in passages])
        lengths = [bounds.length(found) for found in read]
        self.unread = sum(len(passage.text) for passage in passages) - sum(lengths)
        self._texts = [passage.text[:length] for passage, length in zip(passages, lengths, strict=True)]
        self._sentences = [
            (number, statement) for number, found in enumerate(read) for statement in _statements(found)
        ]
        self._quotes: dict[str, int] = {}
        for place, (_, statement) in enumerate(self._sentences):
            self._quotes.setdefault(statement.plain, place)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words that the passages mention."""
        return Vocabulary(self._texts, _words)

    @cached_property
    def numbers(self) -> Held:
        """The numbers that the passages have."""
        return Held(number for _, statement in self._sentences for number in statement.numbers)

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        """The places of the sentences that have a root."""
        holders: dict[str, list[int]] = defaultdict(list)
        for place, (_, statement) in enumerate(self._sentences):
            for key in set(statement.roots):
                holders[key].append(place)
        return holders

    @cached_property
    def _written(self) -> Written:
        return Written((number, statement.roots) for number, statement in self._sentences)

    def mentions(self, key: str) -> bool:
        """Whether any passage has a term of this root."""
        return key in self._holders

    def quoted(self, claim: Statement) -> Place | None:
        """The first sentence that is this one but for its formatting."""
        place = self._quotes.get(claim.plain)
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
        best = [self._most(clause) for clause in clauses]
        held = sum(share * part for share, part in zip(weights, best, strict=True))
        return MOST_TOGETHER * held / sum(weights)

    def _places(self, keys: Keys) -> list[Place]:
        asked = self._written.asked(keys)
        places = [self._place(place, asked.held_around(place), own) for place, own in self._candidates(keys)]
        return sorted(places, key=lambda place: (-place.own, -place.containment))

    def _most(self, keys: Keys) -> float:
        """How far the best place contains the keys."""
        asked = self._written.asked(keys)
        return max((asked.held_around(place) for place, _ in self._candidates(keys)), default=0.0)

    def _candidates(self, keys: Keys) -> list[tuple[int, float]]:
        """The sentences that share most with the keys, with what they share: the best of each passage, so that none hides another."""
        shared: dict[int, float] = defaultdict(float)
        for key in self._telling(keys):
            counts = weight(key)
            for place in self._holders[key]:
                shared[place] += counts
        whole = sum(map(weight, dict.fromkeys(keys)))
        best = sorted(shared, key=lambda place: (-shared[place], place))
        taken: dict[int, int] = defaultdict(int)
        found: list[tuple[int, float]] = []
        for place in best:
            number = self._sentences[place][0]
            taken[number] += 1
            if taken[number] <= _OF_ONE:
                found.append((place, shared[place] / whole))
                if len(found) == _OF_ALL:
                    break
        return found

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


def _statements(read: tuple[Sentence, ...]) -> tuple[Statement, ...]:
    """The sentences of a passage; of a short one they are kept, because the answers of a session rest on the same passages."""
    return _kept(read) if bounds.length(read) <= _SHORT else _made(read)


def _made(read: tuple[Sentence, ...]) -> tuple[Statement, ...]:
    return tuple(Statement(sentence.body, sentence.start) for sentence in read)


_kept = cleared_on_erasure(lru_cache(maxsize=_KEPT)(_made))


def _words(text: str) -> Words:
    """The words of a passage, kept as its sentences are."""
    return _kept_words(text) if len(text) <= _SHORT else words_of(text)


_kept_words = cleared_on_erasure(lru_cache(maxsize=_KEPT)(words_of))


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
