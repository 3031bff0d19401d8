"""Runs of one, two and three terms: where the passages have them, and how many of a claim's runs a place has."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Final

from timemachine.text.pure.language.talk import GLUE

Keys = tuple[str, ...]
Run = str | tuple[str, ...]

# The weights of single terms, runs of two and runs of three. If a sentence is too short for some, the others count.
_RUN_WEIGHTS: Final = (0.7, 0.2, 0.1)
# A sentence can rest on the best sentence of a passage and this many on each side.
_REACH: Final = 4
# The weights of terms (docs/grounding.md). They are fixed, so that another passage can only add support.
# A connecting word counts little, a number or identifier more than a word.
_GLUE: Final = 0.3
_WORD: Final = 1.0
_FIGURE: Final = 1.3


def term_weight(key: str) -> float:
    """Return the weight of the term with this root."""
    if key in GLUE:
        return _GLUE
    return _FIGURE if key.startswith("#") else _WORD


class RunIndex:
    """All terms of the passages in a row, and the positions of each.

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

    def query(self, keys: Keys) -> "RunQuery":
        """Return the runs of these keys, ready to be looked up in many places."""
        return RunQuery(keys, self._starts, self._bounds)

    def _starts(self, run: Run) -> list[int]:
        if isinstance(run, str):
            return self._places.get(run, [])
        if run not in self._known:
            places = self._places.get(run[0], ())
            self._known[run] = [at for at in places if self._row[at : at + len(run)] == run]
        return self._known[run]


class RunQuery:
    """The runs of a claim that occur, with their weights and positions."""

    __slots__ = ("_bounds", "_found")

    def __init__(
        self, keys: Keys, starts_of: Callable[[Run], list[int]], bounds: list[tuple[int, int]]
    ) -> None:
        lengths = [
            (share, length, {run: _run_weight(run) for run in runs})
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

    def share_around(self, place: int) -> float:
        """Return the share of the runs that a sentence (by its place) and its neighbours in the passage have, 0 to 1."""
        start, end = self._bounds[place]
        held = [
            share
            for share, length, starts in self._found
            if (at := bisect_left(starts, start)) < len(starts) and starts[at] + length <= end
        ]
        return min(1.0, sum(held, start=0.0))


def _windows(numbers: list[int], ends: list[int]) -> list[tuple[int, int]]:
    """Return for each sentence where it and its neighbours in the same passage start and end in the row."""
    firsts: dict[int, int] = {}
    lasts: dict[int, int] = {}
    for place, number in enumerate(numbers):
        firsts.setdefault(number, place)
        lasts[number] = place
    return [
        (ends[max(firsts[number], place - _REACH)], ends[min(lasts[number], place + _REACH) + 1])
        for place, number in enumerate(numbers)
    ]


def _run_weight(run: Run) -> float:
    return term_weight(run) if isinstance(run, str) else sum(map(term_weight, run))


def _runs(keys: Keys | list[str]) -> tuple[Iterable[Run], Iterable[Run], Iterable[Run]]:
    """Return all runs of one, two and three keys, in order."""
    return keys, pairwise(keys), zip(keys, keys[1:], keys[2:], strict=False)
