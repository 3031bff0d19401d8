"""Finds the sentences that share most with another one. Rare terms count more."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

# A term in more sentences than this is too common for looking up sentences, if there is a rarer one.
_COMMON: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A sentence by its `index`, the weighted share of the query's terms that it has, and the share of its own terms."""

    index: int
    containment: float
    coverage: float


class SentenceIndex:
    """Sentences, each as the keys of its terms.

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

    def matches(self, keys: Iterable[str], most: int = 1) -> list[Match]:
        """Return the best `most` sentences that have any of the keys: by containment, then coverage, then order."""
        query = sorted(set(keys))
        total = math.fsum(map(self.term_weight, query))
        shared: dict[int, float] = defaultdict(float)
        for key in self._rarest(query):
            weight = self.term_weight(key)
            for index in self._holders[key]:
                shared[index] += weight
        found = [self._match(index, weight, total) for index, weight in shared.items()]
        return sorted(found, key=lambda match: (-match.containment, -match.coverage, match.index))[:most]

    def _match(self, index: int, shared: float, total: float) -> Match:
        return Match(
            index=index,
            containment=min(1.0, shared / total),
            coverage=min(1.0, shared / self._weights[index]),
        )

    def _rarest(self, query: Sequence[str]) -> list[str]:
        held = [key for key in query if key in self._holders]
        rare = [key for key in held if len(self._holders[key]) <= _COMMON]
        return rare or held[:1]
