"""Treating differences that only floating-point rounding separates as equal."""

from collections.abc import Iterator, Sequence
from typing import Final

# Rounding errors are some 1e-16 of the numbers, far below this; no number is shown with this many digits.
FINEST: Final = 1e-12


def levelled(values: Sequence[float], scale: float) -> list[float]:
    """Return the values with those equal that are closer together than `FINEST` of `scale`, and 0 if 0 is among them.

    `scale` is the size of the numbers whose differences these are. The function is idempotent and commutes
    with a change of sign.
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
