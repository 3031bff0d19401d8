"""Select turns for a token budget. Pure.

Turns are taken by importance, highest first, and among equals the latest first. One that does not fit is
skipped. Each gap costs the tokens of its mark. The selected turns keep their order.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from timemachine.recording.sessions.pure.vocabulary import DEFAULT_IMPORTANCE

UNANNOTATED: Final = DEFAULT_IMPORTANCE["normal"]
"""The importance of a turn without one, when turns compete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A candidate turn: its importance (None if it has none) and its number of tokens."""

    sequence: int
    importance: float | None
    tokens: int


def fitting(turns: Sequence[Candidate], budget: int, *, last: int, mark_tokens: int) -> list[Candidate]:
    """Return the turns of a session with `last` turns that fit into `budget` tokens, including marks, in order.

    Returns nothing if none fits; the mark for what is left out may then exceed the budget.
    """
    ranked = sorted(turns, key=_rank)
    chosen = _without_marks(ranked, budget)
    if _cost(chosen, last, mark_tokens) > budget:
        chosen = _with_marks(ranked, budget, last, mark_tokens)
    return sorted(chosen, key=lambda turn: turn.sequence)


def _without_marks(ranked: Sequence[Candidate], budget: int) -> list[Candidate]:
    chosen, used = list[Candidate](), 0
    for turn in ranked:
        if used + turn.tokens <= budget:
            chosen.append(turn)
            used += turn.tokens
    return chosen


def _with_marks(ranked: Sequence[Candidate], budget: int, last: int, mark_tokens: int) -> list[Candidate]:
    """Return each turn that fits, counting marks; skipped turns are tried once more, because neighbouring turns
    need fewer marks.
    """
    chosen, placed, used = list[Candidate](), {0, last + 1}, mark_tokens if last else 0
    for turn in (*ranked, *ranked):
        if turn.sequence in placed:
            continue
        beside = sum(each in placed for each in (turn.sequence - 1, turn.sequence + 1))
        grown = used + turn.tokens + mark_tokens * (1 - beside)
        if grown <= budget:
            chosen.append(turn)
            placed.add(turn.sequence)
            used = grown
    return chosen


def _cost(chosen: Sequence[Candidate], last: int, mark_tokens: int) -> int:
    missing = gaps(sorted(turn.sequence for turn in chosen), last)
    return sum(turn.tokens for turn in chosen) + mark_tokens * sum(map(bool, missing))


def gaps(sequences: Collection[int], last: int) -> Iterator[int]:
    """Return how many turns are left out before each selected turn, and after the last; `sequences` are the selected
    sequences, in order.
    """
    for before, after in pairwise((0, *sequences, last + 1)):
        yield after - before - 1


def _rank(turn: Candidate) -> tuple[float, int]:
    return -(UNANNOTATED if turn.importance is None else turn.importance), -turn.sequence
