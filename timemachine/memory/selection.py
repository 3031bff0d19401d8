"""Which turns are told where only so many tokens fit. Pure.

The turns of the highest importance come first, of equal ones the latest; one that does not fit is passed over for the next that does.
Every stretch that is left out costs its mark. They are told in their order.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from timemachine.recording.vocabulary import DEFAULT_IMPORTANCE

UNWEIGHED: Final = DEFAULT_IMPORTANCE["normal"]
"""As what a turn counts, against others, that nobody gave an importance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A turn that may be told: its importance, None where nobody gave it one, and how many tokens it takes."""

    sequence: int
    importance: float | None
    tokens: int


def fitting(turns: Sequence[Weighed], budget: int, *, last: int, mark_tokens: int) -> list[Weighed]:
    """The turns that are told with at most `budget` tokens, marks included, of a session of `last` turns; in their order."""
    chosen: list[Weighed] = []
    used = 0
    for turn in sorted(turns, key=_rank):
        if used + turn.tokens <= budget:
            chosen.append(turn)
            used += turn.tokens
    told = {0, last + 1, *(turn.sequence for turn in chosen)}
    marks = sum(1 for each in told if each <= last and each + 1 not in told)
    while chosen and used + mark_tokens * marks > budget:
        dropped = chosen.pop()
        told.remove(dropped.sequence)
        marks += sum(each in told for each in (dropped.sequence - 1, dropped.sequence + 1)) - 1
        used -= dropped.tokens
    return sorted(chosen, key=lambda turn: turn.sequence)


def gaps(told: Collection[int], last: int) -> Iterator[int]:
    """How many turns are left out before each of those that are told, and at the end; `told` are their sequences, in order."""
    for before, after in pairwise((0, *told, last + 1)):
        yield after - before - 1


def _rank(turn: Weighed) -> tuple[float, int]:
    return -(UNWEIGHED if turn.importance is None else turn.importance), -turn.sequence
