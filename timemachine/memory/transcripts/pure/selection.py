"""Which turns are told where only so many tokens fit. Pure.

The turns of the highest importance come first, of equal ones the latest; one that does not fit is passed over for the next that does.
Every stretch that is left out costs its mark. They are told in their order.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from timemachine.recording.sessions.pure.vocabulary import DEFAULT_IMPORTANCE

UNWEIGHED: Final = DEFAULT_IMPORTANCE["normal"]
"""As what a turn counts, against others, that nobody gave an importance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A turn that may be told: its importance, None where nobody gave it one, and how many tokens it takes."""

    sequence: int
    importance: float | None
    tokens: int


def fitting(turns: Sequence[Weighed], budget: int, *, last: int, mark_tokens: int) -> list[Weighed]:
    """The turns that are told with at most `budget` tokens, marks included, of a session of `last` turns; in their order.

    None where none fits: the mark that then says how many are left out may take more than the budget.
    """
    ranked = sorted(turns, key=_rank)
    chosen = _without_marks(ranked, budget)
    if _cost(chosen, last, mark_tokens) > budget:
        chosen = _with_marks(ranked, budget, last, mark_tokens)
    return sorted(chosen, key=lambda turn: turn.sequence)


def _without_marks(ranked: Sequence[Weighed], budget: int) -> list[Weighed]:
    chosen, used = list[Weighed](), 0
    for turn in ranked:
        if used + turn.tokens <= budget:
            chosen.append(turn)
            used += turn.tokens
    return chosen


def _with_marks(ranked: Sequence[Weighed], budget: int, last: int, mark_tokens: int) -> list[Weighed]:
    """Each turn that fits with the marks as they are then; who was passed over is tried once more, for marks become fewer between neighbours."""
    chosen, told, used = list[Weighed](), {0, last + 1}, mark_tokens if last else 0
    for turn in (*ranked, *ranked):
        if turn.sequence in told:
            continue
        beside = sum(each in told for each in (turn.sequence - 1, turn.sequence + 1))
        grown = used + turn.tokens + mark_tokens * (1 - beside)
        if grown <= budget:
            chosen.append(turn)
            told.add(turn.sequence)
            used = grown
    return chosen


def _cost(chosen: Sequence[Weighed], last: int, mark_tokens: int) -> int:
    missing = gaps(sorted(turn.sequence for turn in chosen), last)
    return sum(turn.tokens for turn in chosen) + mark_tokens * sum(map(bool, missing))


def gaps(told: Collection[int], last: int) -> Iterator[int]:
    """How many turns are left out before each of those that are told, and at the end; `told` are their sequences, in order."""
    for before, after in pairwise((0, *told, last + 1)):
        yield after - before - 1


def _rank(turn: Weighed) -> tuple[float, int]:
    return -(UNWEIGHED if turn.importance is None else turn.importance), -turn.sequence
