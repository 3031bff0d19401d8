"""Compares two answers: the sentences that only one of them has, and which of those belong together."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from timemachine.text.pure.language.names import Name, Vocabulary, missing_names
from timemachine.text.pure.language.numbers import Number, missing_numbers
from timemachine.text.pure.language.plain import plain
from timemachine.text.pure.language.sentences import sentences
from timemachine.text.pure.language.statement import Statement

# The most sentences of one answer that are compared with the other's. Further ones count as different.
MOST: Final = 2_000
# Two sentences have the same subject if they share this much of the shorter one's topic …
_RELATED: Final = 0.5
# … and one restates the other if they share this much of the shorter one's and of the longer one's.
_RESTATED: Final = 0.6
_RESTATED_OF_LONGER: Final = 0.4
_CANDIDATES: Final = 5
# A term in more sentences than this is too common for looking up sentences, if there is a rarer one.
_COMMON: Final = 200


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence of the recorded answer and the sentence of the new one with the same subject."""

    recorded: Statement
    new: Statement


@dataclass(frozen=True)
class Answers:
    """A recorded answer and a new one: the sentences that both have, and those that only one of them has."""

    shared: Sequence[Statement]
    only_recorded: Sequence[Statement]
    only_new: Sequence[Statement]

    @classmethod
    def of(cls, recorded: str, new: str) -> "Answers":
        """Return the two texts, compared sentence by sentence."""
        before, after = _keyed(recorded), _keyed(new)
        both = Counter(key for key, _ in before) & Counter(key for key, _ in after)
        shared, only_recorded = _split(before, both)
        return cls(shared=shared, only_recorded=only_recorded, only_new=_split(after, both)[1])

    @cached_property
    def related(self) -> "Answers":
        """The answers without the sentences that the other does not restate."""
        left_out = {id(each) for side in self.unrelated for each in side}
        return replace(
            self,
            only_recorded=[each for each in self.only_recorded if id(each) not in left_out],
            only_new=[each for each in self.only_new if id(each) not in left_out],
        )

    def missing_numbers(self) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
        """Return the numbers that only the recorded answer has, and those that only the new one has."""
        before, after = _numbers(self.only_recorded), _numbers(self.only_new)
        lost, gained = missing_numbers(before, after), missing_numbers(after, before)
        shared = _numbers(self.shared) if lost or gained else []
        return missing_numbers(lost, shared), missing_numbers(gained, shared)

    @cached_property
    def missing_names(self) -> tuple[tuple[Name, ...], tuple[Name, ...]]:
        """The names that only the recorded answer has, and those that only the new one has, including uncertain ones."""
        lost = missing_names(_names(self.only_recorded), _vocabulary(self.only_new))
        gained = missing_names(_names(self.only_new), _vocabulary(self.only_recorded))
        shared = _vocabulary(self.shared if lost or gained else [])
        return missing_names(lost, shared), missing_names(gained, shared)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Sentences that match each other best and have the same subject."""
        forth, back = _best(self._recorded, self._new), _best(self._new, self._recorded)
        return [
            Pair(self._recorded[here], self._new[there])
            for here, there in enumerate(forth)
            if there is not None and back[there] == here
        ]

    @cached_property
    def unrelated(self) -> tuple[list[Statement], list[Statement]]:
        """The sentences of each answer that the other does not restate, including all beyond `MOST`."""
        return (
            [*_not_restated(self._recorded, self._new), *self.only_recorded[MOST:]],
            [*_not_restated(self._new, self._recorded), *self.only_new[MOST:]],
        )

    @property
    def _recorded(self) -> Sequence[Statement]:
        return self.only_recorded[:MOST]

    @property
    def _new(self) -> Sequence[Statement]:
        return self.only_new[:MOST]


def _keyed(answer: str) -> list[tuple[str, Statement]]:
    """Return the sentences of an answer, each with its text without formatting, except those that are only formatting."""
    found = [(plain(sentence.text), sentence) for sentence in sentences(answer)]
    return [(key, Statement(sentence.body, sentence.start)) for key, sentence in found if key]


def _split(
    keyed: Iterable[tuple[str, Statement]], both: Counter[str]
) -> tuple[list[Statement], list[Statement]]:
    """Return the sentences that both answers have, each as often as both have it, and the others."""
    remaining = both.copy()
    shared: list[Statement] = []
    others: list[Statement] = []
    for key, statement in keyed:
        (shared if remaining[key] > 0 else others).append(statement)
        remaining[key] -= 1
    return shared, others


def _numbers(found: Iterable[Statement]) -> list[Number]:
    """Return the numbers of the sentences, with their position in the answer."""
    return [
        replace(number, start=number.start + each.start, end=number.end + each.start)
        for each in found
        for number in each.numbers
    ]


def _names(found: Iterable[Statement]) -> list[Name]:
    """Return the names of the sentences, with their position in the answer."""
    return [
        replace(name, start=name.start + each.start, end=name.end + each.start)
        for each in found
        for name in each.names
    ]


def _vocabulary(found: Iterable[Statement]) -> Vocabulary:
    return Vocabulary(each.text for each in found)


def _likely(asking: Sequence[Statement], answering: Sequence[Statement]) -> list[list[int]]:
    """Return for each sentence the few others that share most with it."""
    index = SentenceIndex([each.topic for each in answering])
    return [index.matches(each.topic, _CANDIDATES) for each in asking]


def _best(asking: Sequence[Statement], answering: Sequence[Statement]) -> list[int | None]:
    found: list[int | None] = []
    for one, candidates in zip(asking, _likely(asking, answering), strict=True):
        shares = [(_share(one, answering[place], min), -place) for place in candidates]
        share, place = max(shares, default=(0.0, 0))
        found.append(-place if share >= _RELATED else None)
    return found


def _not_restated(asking: Sequence[Statement], answering: Sequence[Statement]) -> list[Statement]:
    return [
        one
        for one, candidates in zip(asking, _likely(asking, answering), strict=True)
        if not any(_restates(one, answering[place]) for place in candidates)
    ]


def _restates(one: Statement, other: Statement) -> bool:
    """Return whether two sentences say nearly the same. One with only numbers and names can be part of a longer one."""
    if _share(one, other, min) < _RESTATED:
        return False
    return _is_bare(one) or _is_bare(other) or _share(one, other, max) >= _RESTATED_OF_LONGER


def _share(one: Statement, other: Statement, of: Callable[[int, int], int]) -> float:
    left, right = set(one.topic), set(other.topic)
    return len(left & right) / of(len(left), len(right))


def _is_bare(statement: Statement) -> bool:
    named = {part for name in statement.names for part in name.key.split()}
    return all(term.kind == "number" or term.key in named for term in statement.terms)


class SentenceIndex:
    """Sentences, each as the keys of its terms, for finding those that share most with another one.

    The inverse document frequency of a term is ln(1 + (N - n + 0.5) / (n + 0.5)), with N sentences of which n have it
    (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, section 3.3). Its weight is from 1 (every
    sentence has it) to 2 (none has it): undamped, one new word in a short text would outweigh everything that is
    shared.
    """

    __slots__ = ("_holders", "_size", "_weights")

    def __init__(self, found: Sequence[Iterable[str]]) -> None:
        self._holders: dict[str, list[int]] = defaultdict(list)
        self._size = len(found)
        sets = [set(keys) for keys in found]
        for index, keys in enumerate(sets):
            for key in keys:
                self._holders[key].append(index)
        self._weights = [math.fsum(map(self.term_weight, sorted(keys))) for keys in sets]

    def term_weight(self, key: str) -> float:
        """Return the weight of a term, which is highest if no sentence has it."""
        held = len(self._holders.get(key, ()))
        return 1 + math.log1p((self._size - held + 0.5) / (held + 0.5)) / math.log1p(2 * self._size + 1)

    def matches(self, keys: Iterable[str], most: int) -> list[int]:
        """Return the best `most` sentences that have any of the keys.

        First come those with most of the query, then those that consist most of it, both weighted.
        """
        query = sorted(set(keys))
        total = math.fsum(map(self.term_weight, query))
        shared: dict[int, float] = defaultdict(float)
        for key in self._rarest(query):
            weight = self.term_weight(key)
            for index in self._holders[key]:
                shared[index] += weight

        def order(index: int) -> tuple[float, float, int]:
            containment, coverage = shared[index] / total, shared[index] / self._weights[index]
            return -min(1.0, containment), -min(1.0, coverage), index

        return sorted(shared, key=order)[:most]

    def _rarest(self, query: Sequence[str]) -> list[str]:
        held = [key for key in query if key in self._holders]
        rare = [key for key in held if len(self._holders[key]) <= _COMMON]
        return rare or held[:1]
