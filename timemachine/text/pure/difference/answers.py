"""Two answers read against each other: the sentences that only one of them has, and which of those belong together."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from timemachine.text.pure.language.matching import SentenceIndex
from timemachine.text.pure.language.names import Name, Vocabulary, missing_names
from timemachine.text.pure.language.numbers import Number, missing_numbers
from timemachine.text.pure.language.plain import plain
from timemachine.text.pure.language.sentences import sentences
from timemachine.text.pure.language.statement import Statement

# Sentences of one answer that are compared with those of the other; beyond them nothing is claimed to be the same.
MOST: Final = 2_000
# Two sentences speak of the same when they share this much of the shorter one's topic …
_RELATED: Final = 0.5
# … and one restates the other when they share this much of the shorter one's and of the longer one's.
_RESTATED: Final = 0.6
_RESTATED_OF_LONGER: Final = 0.4
_CANDIDATES: Final = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence of the recorded answer and the one of the new answer that speaks of the same."""

    recorded: Statement
    new: Statement


class Answers:
    """A recorded answer and a new one. `only_recorded` and `only_new` are what is left without the sentences of both."""

    def __init__(self, recorded: str, new: str) -> None:
        before, after = _keyed(recorded), _keyed(new)
        both = Counter(key for key, _ in before) & Counter(key for key, _ in after)
        self.shared, self.only_recorded = _split(before, both)
        self.only_new = _split(after, both)[1]

    def missing_numbers(self) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
        """The numbers that only the recorded answer states, and those that only the new one does."""
        before, after = _numbers(self.only_recorded), _numbers(self.only_new)
        lost, gained = missing_numbers(before, after), missing_numbers(after, before)
        shared = _numbers(self.shared) if lost or gained else []
        return missing_numbers(lost, shared), missing_numbers(gained, shared)

    @cached_property
    def missing_names(self) -> tuple[tuple[Name, ...], tuple[Name, ...]]:
        """The names that only the recorded answer mentions, and those that only the new one does; uncertain ones too."""
        lost = missing_names(_names(self.only_recorded), _vocabulary(self.only_new))
        gained = missing_names(_names(self.only_new), _vocabulary(self.only_recorded))
        shared = _vocabulary(self.shared if lost or gained else [])
        return missing_names(lost, shared), missing_names(gained, shared)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Sentences of either answer that match each other best and speak of the same."""
        forth, back = _best(self._recorded, self._new), _best(self._new, self._recorded)
        return [
            Pair(self._recorded[here], self._new[there])
            for here, there in enumerate(forth)
            if there is not None and back[there] == here
        ]

    @cached_property
    def unrelated(self) -> tuple[list[Statement], list[Statement]]:
        """The sentences of either answer that no sentence of the other restates; all those beyond `MOST` among them."""
        return (
            [*_not_restated(self._recorded, self._new), *self.only_recorded[MOST:]],
            [*_not_restated(self._new, self._recorded), *self.only_new[MOST:]],
        )

    @property
    def _recorded(self) -> list[Statement]:
        return self.only_recorded[:MOST]

    @property
    def _new(self) -> list[Statement]:
        return self.only_new[:MOST]


def _keyed(answer: str) -> list[tuple[str, Statement]]:
    """The sentences of an answer, each with what it is without formatting; those that are only formatting left out."""
    found = [(plain(sentence.text), sentence) for sentence in sentences(answer)]
    return [(key, Statement(sentence.body, sentence.start)) for key, sentence in found if key]


def _split(
    keyed: Iterable[tuple[str, Statement]], both: Counter[str]
) -> tuple[list[Statement], list[Statement]]:
    """The sentences that both answers have, each as often as both have it, and the others."""
    left = both.copy()
    shared: list[Statement] = []
    others: list[Statement] = []
    for key, statement in keyed:
        (shared if left[key] > 0 else others).append(statement)
        left[key] -= 1
    return shared, others


def _numbers(found: Iterable[Statement]) -> list[Number]:
    """The numbers of some sentences, with their place in the answer."""
    return [
        replace(number, start=number.start + each.start, end=number.end + each.start)
        for each in found
        for number in each.numbers
    ]


def _names(found: Iterable[Statement]) -> list[Name]:
    """The names of some sentences, with their place in the answer."""
    return [
        replace(name, start=name.start + each.start, end=name.end + each.start)
        for each in found
        for name in each.names
    ]


def _vocabulary(found: Iterable[Statement]) -> Vocabulary:
    return Vocabulary(each.text for each in found)


def _likely(asking: Sequence[Statement], answering: Sequence[Statement]) -> list[list[int]]:
    """For each sentence the few of the others that share most with it."""
    index = SentenceIndex([each.topic for each in answering])
    return [[match.index for match in index.matches(each.topic, _CANDIDATES)] for each in asking]


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
    """Whether two sentences say much the same; one that is only numbers and names may be part of a longer one."""
    if _share(one, other, min) < _RESTATED:
        return False
    return _is_bare(one) or _is_bare(other) or _share(one, other, max) >= _RESTATED_OF_LONGER


def _share(one: Statement, other: Statement, of: Callable[[int, int], int]) -> float:
    left, right = set(one.topic), set(other.topic)
    return len(left & right) / of(len(left), len(right))


def _is_bare(statement: Statement) -> bool:
    named = {part for name in statement.names for part in name.key.split()}
    return all(term.kind == "number" or term.key in named for term in statement.terms)
