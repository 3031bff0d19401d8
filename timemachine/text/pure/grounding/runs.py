"""Runs of one, two and three terms: where the passages have them, and how far a place holds those of a claim."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Final

from timemachine.text.pure.grounding.term_weights import weight

Keys = tuple[str, ...]
Run = str | tuple[str, ...]

# What single terms, and runs of two and of three, count; a sentence too short for the longer ones is judged by the others.
_RUN_WEIGHTS: Final = (0.7, 0.2, 0.1)
# A sentence may rest on the best sentence of a passage and so many on either side of it.
_REACH: Final = 4


class Written:
    """All terms of the passages in one row, and where in it each of them stands.

    `sentences` are the number of the passage and the keys of each sentence, in order.
    """

    __slots__ = ("_bounds", "_known", "_places", "_row")

    def __init__(self, sentences: Iterable[tuple[int, Keys]]) -> None:
        numbers: list[int] = []
        ends = [0]
        row: list[str] = []
        for number, keys in sentences:
            numbers.append(number)
            row.extend(keys)
            ends.append(len(row))
        self._bounds = _windows(numbers, ends)
        self._row = tuple(row)
        self._known: dict[Run, list[int]] = {}
        self._places: dict[str, list[int]] = defaultdict(list)
        for at, key in enumerate(row):
            self._places[key].append(at)

    def asked(self, keys: Keys) -> "Asked":
        """The runs of some keys, ready to be looked for in one place after another."""
        return Asked(keys, self._starts, self._bounds)

    def _starts(self, run: Run) -> list[int]:
        """Where a run starts."""
        if isinstance(run, str):
            return self._places.get(run, [])
        if run not in self._known:
            places = self._places.get(run[0], ())
            self._known[run] = [at for at in places if self._row[at : at + len(run)] == run]
        return self._known[run]


class Asked:
    """The runs of some keys that occur at all, with what each counts and where it starts."""

    __slots__ = ("_bounds", "_found")

    def __init__(
        self, keys: Keys, starts_of: Callable[[Run], list[int]], bounds: list[tuple[int, int]]
    ) -> None:
        lengths = [
            (share, length, {run: _weight_of(run) for run in runs})
            for length, (share, runs) in enumerate(zip(_RUN_WEIGHTS, _runs(keys), strict=True), start=1)
        ]
        whole = sum(share for share, _, weights in lengths if weights)
        self._bounds = bounds
        self._found: list[tuple[float, int, list[int]]] = []
        for share, length, weights in lengths:
            total = sum(weights.values())
            for run, each in weights.items():
                if starts := starts_of(run):
                    self._found.append((share / whole * each / total, length, starts))

    def held_around(self, place: int) -> float:
        """The share of the runs that a sentence (by its place among all) and its neighbours in the passage have, 0 to 1."""
        start, end = self._bounds[place]
        return min(1.0, sum(self._held(start, end), start=0.0))

    def _held(self, start: int, end: int) -> Iterator[float]:
        for count, length, starts in self._found:
            at = bisect_left(starts, start)
            if at < len(starts) and starts[at] + length <= end:
                yield count


def _windows(numbers: list[int], ends: list[int]) -> list[tuple[int, int]]:
    """Of each sentence, where in the row it and its neighbours in the same passage start and end."""
    firsts: dict[int, int] = {}
    lasts: dict[int, int] = {}
    for place, number in enumerate(numbers):
        firsts.setdefault(number, place)
        lasts[number] = place
    return [
        (ends[max(firsts[number], place - _REACH)], ends[min(lasts[number], place + _REACH) + 1])
        for place, number in enumerate(numbers)
    ]


def _weight_of(run: Run) -> float:
    return weight(run) if isinstance(run, str) else sum(map(weight, run))


def _runs(keys: Keys | list[str]) -> tuple[Iterable[Run], Iterable[Run], Iterable[Run]]:
    """All runs of one, two and three keys, in order."""
    return keys, pairwise(keys), zip(keys, keys[1:], keys[2:], strict=False)
