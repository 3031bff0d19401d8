"""The passages of an answer, sentence by sentence, and which of them says what a claim says."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from timemachine.core.pure.text_caches import cleared_on_erasure
from timemachine.text.pure.grounding import bounds
from timemachine.text.pure.grounding.runs import Keys, RunIndex, term_weight
from timemachine.text.pure.language.names import Vocabulary, Words, words_of
from timemachine.text.pure.language.numbers import NumberSet
from timemachine.text.pure.language.polarity import neutral_key
from timemachine.text.pure.language.sentences import Sentence
from timemachine.text.pure.language.statement import Statement
from timemachine.text.pure.language.words import root

# How many sentences of a passage, and of all passages, are examined closely.
_OF_ONE: Final = 2
_OF_ALL: Final = 24
# A term in more sentences than this is too common for looking up sentences, if the claim has a rarer one.
_COMMON: Final = 200
# The most that several passages together can support a sentence.
MOST_TOGETHER: Final = 0.9
# How many passages of at most this many characters are cached, about 20 KB for each 1,000 characters.
_CACHED: Final = 256
_SHORT: Final = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text that the answer was given, and its frame."""

    frame: int | str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A sentence of the passage with this `number` (from 0).

    `containment` is how far it and its neighbours contain a claim, `own` the share of the claim's terms in the sentence
    itself, both 0 to 1. `beside` are the sentences just before and after it.
    """

    number: int
    statement: Statement
    beside: tuple[Statement, ...]
    containment: float
    own: float


class Source:
    """All passages, read once: their sentences, numbers and words.

    `unread` is the number of characters beyond the limits (`bounds`). What finding a quotation does not need is
    computed lazily.
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
        """The words of the passages."""
        return Vocabulary(self._texts, _words)

    @cached_property
    def numbers(self) -> NumberSet:
        """The numbers of the passages."""
        return NumberSet(number for _, statement in self._sentences for number in statement.numbers)

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        """The places of the sentences with a root."""
        holders: dict[str, list[int]] = defaultdict(list)
        for place, (_, statement) in enumerate(self._sentences):
            for key in set(statement.roots):
                holders[key].append(place)
        return holders

    @cached_property
    def _run_index(self) -> RunIndex:
        return RunIndex((number, statement.roots) for number, statement in self._sentences)

    def mentions(self, key: str) -> bool:
        """Return whether any passage has a term with this root."""
        return key in self._holders

    def quoted(self, claim: Statement) -> Place | None:
        """Return the first sentence that equals this one except for formatting."""
        place = self._quotes.get(claim.plain)
        return None if place is None else self._place(place, 1.0, 1.0)

    def places(self, claim: Statement) -> list[Place]:
        """Return the sentences that have most of a claim, best first; none if no term of it occurs."""
        query = self._run_index.query(claim.roots)
        found = self._candidates(claim.roots)
        places = [self._place(place, query.share_around(place), own) for place, own in found]
        return sorted(places, key=lambda place: (-place.own, -place.containment))

    def combined_containment(self, claim: Statement) -> float:
        """Return how far a claim of several clauses is contained if each can rest on a different passage."""
        clauses = _clauses(claim)
        if len(clauses) == 1:
            return 0.0
        weights = [sum(map(term_weight, clause)) for clause in clauses]
        best = [self._most(clause) for clause in clauses]
        held = sum(share * part for share, part in zip(weights, best, strict=True))
        return MOST_TOGETHER * held / sum(weights)

    def _most(self, keys: Keys) -> float:
        """Return how far the best place contains the keys."""
        query = self._run_index.query(keys)
        return max((query.share_around(place) for place, _ in self._candidates(keys)), default=0.0)

    def _candidates(self, keys: Keys) -> list[tuple[int, float]]:
        """Return the sentences that share most with the keys, with their share: the best of each passage."""
        shared: dict[int, float] = defaultdict(float)
        for key in self._rarest(keys):
            counts = term_weight(key)
            for place in self._holders[key]:
                shared[place] += counts
        whole = sum(map(term_weight, dict.fromkeys(keys)))
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

    def _rarest(self, keys: Keys) -> list[str]:
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
    """Return the sentences of a passage, cached if it is short: the answers of a session rest on the same passages."""
    return _cached(read) if bounds.length(read) <= _SHORT else _made(read)


def _made(read: tuple[Sentence, ...]) -> tuple[Statement, ...]:
    return tuple(Statement(sentence.body, sentence.start) for sentence in read)


_cached = cleared_on_erasure(lru_cache(maxsize=_CACHED)(_made))


def _words(text: str) -> Words:
    """Return the words of a passage, cached like its sentences."""
    return _cached_words(text) if len(text) <= _SHORT else words_of(text)


_cached_words = cleared_on_erasure(lru_cache(maxsize=_CACHED)(words_of))


def _clauses(claim: Statement) -> list[Keys]:
    """Return the roots of a claim, clause by clause."""
    keys = set(claim.keys)
    clauses: list[list[str]] = [[]]
    for term in claim.terms:
        if term.opens:
            clauses.append([])
        if (key := neutral_key(term)) in keys:
            clauses[-1].append(root(key))
    return [tuple(clause) for clause in clauses if clause]
