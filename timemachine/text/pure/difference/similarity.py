"""Finds steps of two runs that are probably the same: similar in their words, aligned for the highest total."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log, sqrt
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from timemachine.text.pure.difference.steps import StepFacts

# Points for a pair of steps. The alignment maximizes their sum.
SAME: Final = 1_000
SAME_DOING: Final = 900
_ALIKE: Final = 700
_LEAST_ALIKE: Final = 100
# Steps of one kind with a lower cosine similarity (rare words weigh more) are two steps, not one modified step.
LIKE: Final = 0.2
_DIMENSIONS: Final = 1_024
_MOST_WORDS: Final = 200
# Up to so many pairs are compared without arrays, which takes a quarter of the time. Long runs have thousands of such parts.
_FEW: Final = 16
_WORD: Final = re.compile(r"\w+")

Points = NDArray[np.int32]
Cells = Points | Sequence[Sequence[int]]


def most_alike(left: Sequence[StepFacts], right: Sequence[StepFacts]) -> list[tuple[int, int]]:
    """Return the pairs of indexes, increasing on both sides, with the most points. Steps without points are not paired.

    A global alignment without gap penalty (Needleman and Wunsch, 1970), row by row. It uses eight bytes per cell of the
    table.
    """
    if len(left) * len(right) <= _FEW:
        few = _few_points(left, right)
        return [*_path(_few_totals(few), few)][::-1]
    points = _points(left, right)
    return [*_path(_totals(points), points)][::-1]


def _totals(points: Points) -> Points:
    table = np.zeros((len(points) + 1, points.shape[1] + 1), dtype=np.int32)
    for row, gained in enumerate(points):
        above = table[row]
        np.maximum(above[1:], above[:-1] + gained, out=table[row + 1, 1:])
        np.maximum.accumulate(table[row + 1], out=table[row + 1])
    return table


def _few_totals(points: Sequence[Sequence[int]]) -> list[list[int]]:
    table = [[0] * (len(points[0]) + 1)]
    for gained in points:
        above, row = table[-1], [0]
        for place, each in enumerate(gained):
            row.append(max(row[-1], above[place + 1], above[place] + each))
        table.append(row)
    return table


def _path(table: Cells, points: Cells) -> Iterator[tuple[int, int]]:
    """Yield the pairs from last to first."""
    row, column = len(points), len(points[0])
    while row and column:
        here = table[row][column]
        if here == table[row - 1][column]:
            row -= 1
        elif here == table[row][column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            yield row, column


def _points(left: Sequence[StepFacts], right: Sequence[StepFacts]) -> Points:
    """Return the points of every pair, one row for each left step."""
    likeness = _likeness(left, right)
    alike = np.where(likeness >= LIKE, _LEAST_ALIKE + likeness * _ALIKE, 0).astype(np.int32)
    doing = _equal([step.doing for step in left], [step.doing for step in right])
    whole = _equal([step.fingerprint for step in left], [step.fingerprint for step in right])
    found: Points = np.where(doing, SAME_DOING, alike)
    found[~_equal([step.sort for step in left], [step.sort for step in right])] = 0
    found[whole] = SAME
    return found


def _few_points(left: Sequence[StepFacts], right: Sequence[StepFacts]) -> list[list[int]]:
    """Return the same for a few steps."""
    counted = [_words(step) for step in (*left, *right)]
    squares = {word: weight * weight for word, weight in _weights(counted).items()}
    lengths = [sqrt(_sum_of(squares, words)) or 1.0 for words in counted]
    return [
        [
            _points_of(one, other, _sum_of(squares, counted[i] & counted[j]) / (lengths[i] * lengths[j]))
            for j, other in enumerate(right, len(left))
        ]
        for i, one in enumerate(left)
    ]


def _sum_of(values: Mapping[str, float], words: Iterable[str]) -> float:
    return sum(map(values.__getitem__, words))


def _points_of(one: StepFacts, other: StepFacts, likeness: float) -> int:
    if one.fingerprint == other.fingerprint:
        return SAME
    if one.sort != other.sort:
        return 0
    if one.doing == other.doing:
        return SAME_DOING
    return int(_LEAST_ALIKE + likeness * _ALIKE) if likeness >= LIKE else 0


def _equal(left: Sequence[Any], right: Sequence[Any]) -> NDArray[np.bool_]:
    ids: dict[Any, int] = {}
    one = np.array([ids.setdefault(each, len(ids)) for each in left], dtype=np.int32)
    other = np.array([ids.setdefault(each, len(ids)) for each in right], dtype=np.int32)
    return np.equal.outer(one, other)


def _likeness(left: Sequence[StepFacts], right: Sequence[StepFacts]) -> NDArray[np.float32]:
    """Return the cosine similarity of the words of every pair, 0 to 1. Words that fewer steps have weigh more."""
    counted = [_words(step) for step in (*left, *right)]
    weights = _weights(counted)
    places = {word: crc32(word.encode("utf-8", "surrogatepass")) % _DIMENSIONS for word in weights}
    vectors = np.zeros((len(counted), _DIMENSIONS), dtype=np.float32)
    for vector, words in zip(vectors, counted, strict=True):
        for word in words:
            vector[places[word]] += weights[word]
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
    found: NDArray[np.float32] = vectors[: len(left)] @ vectors[len(left) :].T
    return found


def _words(step: StepFacts) -> frozenset[str]:
    return frozenset(_WORD.findall(f"{step.name or ''} {step.words}".casefold())[:_MOST_WORDS])


def _weights(counted: Sequence[frozenset[str]]) -> dict[str, float]:
    having = Counter(word for words in counted for word in words)
    return {word: log(1 + len(counted) / steps) for word, steps in having.items()}
