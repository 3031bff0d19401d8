"""How many of the ranked frames are an answer: by number, or by how their scores fall. Pure.

The rules look at raw scores of one leg (BM25 where the words matched, else cosine), because a fused score means nothing by
itself. `cut_by` names the rule that ended the list: `top_k`, `all` (fewer were found), `relative` (below half of the best),
`cliff` (a fall of more than 60 % from the frame before), `floor` (below what counts as relevant at all).
"""

from collections.abc import Sequence
from dataclasses import dataclass

RELATIVE_TO_BEST = 0.5
CLIFF = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How many frames stay, and the rule that said so."""

    keep: int
    cut_by: str


def cut_at(found: int, top_k: int) -> Cut:
    """The first `top_k` of the frames found."""
    return Cut(keep=top_k, cut_by="top_k") if found > top_k else Cut(keep=found, cut_by="all")


def cut_adaptively(scores: Sequence[float], top_k: int, floor: float = 0.0) -> Cut:
    """Where the raw scores, best first, stop being an answer; at most `top_k`. Nothing may stay."""
    best = max(scores, default=0.0)
    for rank, score in enumerate(scores[:top_k]):
        rule = _rule(score, scores[rank - 1] if rank else None, best, floor)
        if rule is not None:
            return Cut(keep=rank, cut_by=rule)
    return cut_at(len(scores), top_k)


def _rule(score: float, before: float | None, best: float, floor: float) -> str | None:
    if score < floor:
        return "floor"
    if before is not None and score < CLIFF * before:
        return "cliff"
    return "relative" if score < RELATIVE_TO_BEST * best else None
