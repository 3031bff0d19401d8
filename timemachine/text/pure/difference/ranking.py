"""Compares two ranked lists: which items are new, lost or moved."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Verdict = Literal["same", "reordered", "changed"]

# The weight of each further rank in rank-biased overlap: with 0.9, the first ten ranks have 86 % of the weight.
PERSISTENCE: Final = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One item of a list: its identity (a frame, or a frame with its version or SHA-256) and its rank, from 1."""

    key: Hashable
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """An item with a different rank."""

    key: Hashable
    old_rank: int
    new_rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingDiff:
    """How a list of at most `k` items differs from another.

    `overlap` is overlap@k: the share of common items in the longer list. `rank_biased_overlap` gives the top more
    weight, with `persistence` p. Both are between 0 and 1, and None for two empty lists. For lists of different
    lengths, the latter says nothing about ranks below the shorter one's length, which is `depth`; None for equal
    lengths.
    """

    verdict: Verdict
    gained: tuple[Hashable, ...]
    lost: tuple[Hashable, ...]
    moved: tuple[Move, ...]
    overlap: float | None
    rank_biased_overlap: float | None
    k: int
    depth: int | None = None
    persistence: float = PERSISTENCE


def compare_rankings(old: Sequence[Ranked], new: Sequence[Ranked], k: int) -> RankingDiff:
    """Compare the first `k` items of two lists by rank. If an item is listed twice, its better rank counts.

    `same`: the same items at the same ranks (also two empty lists). `reordered`: the same items. `changed`: different
    items.
    """
    before, after = _top(old, k), _top(new, k)
    gained = tuple(key for key in after if key not in before)
    lost = tuple(key for key in before if key not in after)
    moved = tuple(
        Move(key=key, old_rank=item.rank, new_rank=after[key].rank)
        for key, item in before.items()
        if key in after and after[key].rank != item.rank
    )
    shorter, longer = sorted((len(before), len(after)))
    return RankingDiff(
        verdict="changed" if gained or lost else "reordered" if moved else "same",
        gained=gained,
        lost=lost,
        moved=moved,
        overlap=(len(after) - len(gained)) / longer if longer else None,
        rank_biased_overlap=rank_biased_overlap(list(before), list(after)),
        k=k,
        depth=None if shorter == longer else shorter,
    )


def rank_biased_overlap(
    one: Sequence[Hashable], other: Sequence[Hashable], persistence: float = PERSISTENCE
) -> float | None:
    """Return the extrapolated rank-biased overlap of two lists without ties or repetitions, 0 to 1. None for two empty
    lists.

    Webber, Moffat and Zobel, "A similarity measure for indefinite rankings", ACM TOIS 28(4), 2010, equation 32. It
    treats the lists as prefixes of longer ones, and assumes that the unseen part of the shorter one agrees as much as
    the seen part. So a list that is a prefix of the other gives 1: the number says whether the order of what stayed is
    the same, not how much stayed. That is intended, because top-k and adaptive cut-offs produce such lists, and
    `overlap` counts what they lost. When showing it for lists of different lengths, say down to which rank it applies.
    """
    short, long = sorted((one, other), key=len)
    if not long:
        return None
    if not short:
        return 0.0
    shared = _agreements(short, long)
    s, depth, p = len(short), len(long), persistence
    summed = sum(shared[d - 1] / d * p**d for d in range(1, depth + 1))
    beyond = sum(shared[s - 1] * (d - s) / (s * d) * p**d for d in range(s + 1, depth + 1))
    tail = ((shared[-1] - shared[s - 1]) / depth + shared[s - 1] / s) * p**depth
    return min(1.0, (1 - p) / p * (summed + beyond) + tail)


def _agreements(short: Sequence[Hashable], long: Sequence[Hashable]) -> list[int]:
    """Return how many items the two lists share down to each depth of the longer one."""
    seen_short: set[Hashable] = set()
    seen_long: set[Hashable] = set()
    found: list[int] = []
    for depth, item in enumerate(long):
        seen_long.add(item)
        seen_short.update(short[depth : depth + 1])
        found.append(len(seen_short & seen_long))
    return found


def _top(items: Iterable[Ranked], k: int) -> dict[Hashable, Ranked]:
    """Return the first k distinct items by rank."""
    best: dict[Hashable, Ranked] = {}
    for item in sorted(items, key=lambda item: item.rank):
        if len(best) < k:
            best.setdefault(item.key, item)
    return best
