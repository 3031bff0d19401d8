"""Differences of floating-point figures that are equal but for their last digits are equal. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

# A difference of two figures is off by some 1e-16 of the figures, never by so much; no figure is told to so many digits.
FINEST: Final = 1e-12


def levelled(values: Sequence[float], scale: float) -> list[float]:
    """The values, those that lie closer together than `FINEST` of `scale` made equal, and 0 where 0 is among them.

    `scale` is the size of the figures whose differences these are. Doing it twice is doing it once, and it commutes with a change of sign.
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    found = list(values)
    for level in _levels(order, values, FINEST * scale):
        low, high = values[level[0]], values[level[-1]]
        holds_zero = low <= FINEST * scale and high >= -FINEST * scale
        for place in level:
            found[place] = 0.0 if holds_zero else (low + high) / 2
    return found


def _levels(order: Sequence[int], values: Sequence[float], tolerance: float) -> Iterator[list[int]]:
    level: list[int] = []
    for place in order:
        if level and values[place] - values[level[-1]] > tolerance:
            yield level
            level = []
        level.append(place)
    if level:
        yield level
