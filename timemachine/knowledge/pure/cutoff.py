"""How many of the ranked frames are an answer: by number, or by how their scores fall. Pure.

The rules look at raw scores, BM25 or cosine, because a fused score means nothing by itself; in a hybrid find at the strength of
each frame, by the leg that is surer of it. `cut_by` names the rule that ended the list: `top_k`, `all` (fewer were found), `relative` (below a
share of the best), `cliff` (below a share of the frame before), `floor` (below what counts as relevant at all). `Thresholds` are these shares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

RELATIVE_TO_BEST = 0.5
COSINE_FLOOR = 0.2
WEAKEST = 0.01
CLIFF = 0.4
LONGEST_CURVE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Where an adaptive cut is made: at less than `relative` of the best score, `cliff` of the score before, or the `floor`.

    The first two are shares, 0 to 1; the floor is on the scale of the scores that the rules look at.
    """

    relative: float = RELATIVE_TO_BEST
    cliff: float = CLIFF
    floor: float = 0.0

    def as_json(self) -> dict[str, float]:
        """As they are kept with a find."""
        return {"relative": self.relative, "cliff": self.cliff, "floor": self.floor}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How many frames stay, and the rule that said so."""

    keep: int
    cut_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The scores that a rule looked at, best first, at most `LONGEST_CURVE`: of a `leg`, or fused where that is `hybrid`."""

    leg: str
    scores: tuple[float, ...]
    kept: int

    def as_json(self) -> dict[str, Any]:
        """As it is kept with a find."""
        return {"leg": self.leg, "scores": [shown(score) for score in self.scores], "kept": self.kept}


def curve(leg: str, scores: Sequence[float], cut: Cut) -> Curve:
    """The score curve of a cut."""
    return Curve(leg=leg, scores=tuple(scores[:LONGEST_CURVE]), kept=cut.keep)


def shown(score: float) -> float:
    """A score of a curve as it is kept and shown: to six significant digits."""
    return float(f"{score:.6g}")


def cut_at(found: int, top_k: int) -> Cut:
    """The first `top_k` of the frames found."""
    return Cut(keep=top_k, cut_by="top_k") if found > top_k else Cut(keep=found, cut_by="all")


def strengths(
    order: Sequence[int], lexical: Mapping[int, float], semantic: Mapping[int, float]
) -> list[float]:
    """How strongly each frame answers, 0 to 1: as a share of the best, by the leg in which that is more.

    Cosine counts above `COSINE_FLOOR`, for any two texts of one kind have some.
    """
    legs = (lexical, {row: max(0.0, cosine - COSINE_FLOOR) for row, cosine in semantic.items()})
    best = [max(leg.values(), default=0.0) or 1.0 for leg in legs]
    return [
        max(leg.get(row, 0.0) / highest for leg, highest in zip(legs, best, strict=True)) for row in order
    ]


def cut_adaptively(scores: Sequence[float], top_k: int, thresholds: Thresholds) -> Cut:
    """Where the scores, in the ranking's order, stop being an answer; at most `top_k`. Nothing may stay, but only by the floor."""
    best = max(scores, default=0.0)
    for rank, score in enumerate(scores[:top_k]):
        rule = _rule(score, scores[rank - 1] if rank else None, best, thresholds)
        if rule is not None:
            return Cut(keep=rank, cut_by=rule)
    return cut_at(len(scores), top_k)


def _rule(score: float, before: float | None, best: float, thresholds: Thresholds) -> str | None:
    if score < thresholds.floor:
        return "floor"
    if before is not None and score < thresholds.cliff * before:
        return "cliff"
    return "relative" if before is not None and score < thresholds.relative * best else None
