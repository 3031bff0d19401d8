"""Where to cut a ranking: after a fixed number, or where the scores fall. Pure.

The rules look at raw scores (BM25 or cosine), because a fused score has no meaning outside its list. In a
hybrid find they look at the strength of each frame by the retriever that rates it higher. `cut_by` names the
rule that ended the list: `top_k`, `all` (fewer were found), `relative` (below a share of the best), `cliff`
(below a share of the frame before) or `floor` (below the least relevant score). `Thresholds` holds these
shares.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

RELATIVE_TO_BEST = 0.5
COSINE_FLOOR = 0.2
WEAKEST = 0.01
CLIFF = 0.4
LONGEST_CURVE = 100
POOL = 100
"""How many of the best frames the adaptive cut of a replay looks at unless a pool is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The thresholds of an adaptive cut.

    `relative` is a share (0 to 1) of the best score, `cliff` a share of the score before. `floor` is a score on
    the scale that the rules look at.
    """

    relative: float = RELATIVE_TO_BEST
    cliff: float = CLIFF
    floor: float = 0.0

    def as_json(self) -> dict[str, float]:
        """Return the JSON object that is stored with a find."""
        return {"relative": self.relative, "cliff": self.cliff, "floor": self.floor}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How many frames to keep, and the rule that decided it."""

    keep: int
    cut_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The scores that a rule looked at, best first, at most `LONGEST_CURVE`. `leg` names the retriever, or
    `hybrid` for fused scores.
    """

    leg: str
    scores: tuple[float, ...]
    kept: int

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that is stored with a find."""
        return {"leg": self.leg, "scores": [shown(score) for score in self.scores], "kept": self.kept}


def curve(retriever: str, scores: Sequence[float], cut: Cut) -> Curve:
    """Return the score curve of a cut."""
    return Curve(leg=retriever, scores=tuple(scores[:LONGEST_CURVE]), kept=cut.keep)


def shown(score: float) -> float:
    """Return a score as it is stored and shown: rounded to six significant digits."""
    return float(f"{score:.6g}")


def cut_at(found: int, top_k: int) -> Cut:
    """Keep at most `top_k` of the frames found."""
    return Cut(keep=top_k, cut_by="top_k") if found > top_k else Cut(keep=found, cut_by="all")


def strengths(
    order: Sequence[int], lexical: Mapping[int, float], semantic: Mapping[int, float]
) -> list[float]:
    """Return how strongly each frame answers, from 0 to 1: its share of the best score, by the retriever that
    rates it higher.

    A cosine counts only above `COSINE_FLOOR`, because any two texts of one kind have some similarity.
    """
    rankings = (lexical, {row: max(0.0, cosine - COSINE_FLOOR) for row, cosine in semantic.items()})
    best = [max(ranking.values(), default=0.0) or 1.0 for ranking in rankings]
    return [
        max(ranking.get(row, 0.0) / highest for ranking, highest in zip(rankings, best, strict=True))
        for row in order
    ]


def cut_adaptively(scores: Sequence[float], top_k: int, thresholds: Thresholds) -> Cut:
    """Return where the scores stop being an answer, after at most `top_k`. Only the floor can exclude every frame."""
    best = max(scores, default=0.0)
    for rank, score in enumerate(scores[:top_k]):
        rule = _rule(score, scores[rank - 1] if rank else None, best, thresholds)
        if rule is not None:
            return Cut(keep=rank, cut_by=rule)
    return cut_at(len(scores), top_k)


def needed_settings(
    scores: Sequence[float], rank: int, thresholds: Thresholds, pool: int
) -> dict[str, float] | None:
    """Return the settings with which an adaptive cut would keep the frame at a rank, without those that need no change.

    They are `relative`, `cliff` and `min_score`, rounded down to thousandths, and `pool`. None if no setting would
    keep it.
    """
    best, pairs = max(scores, default=0.0), list(pairwise(scores[:rank]))
    limits = {
        "relative": min((max(0.0, score / best) for _, score in pairs if best > 0), default=1.0),
        "cliff": min((max(0.0, score / before) for before, score in pairs if before > 0), default=1.0),
        "floor": min(scores[:rank], default=thresholds.floor),
    }
    now = thresholds.as_json()
    for below in (0, 1):  # a product can be above the score that it was divided from
        changed = {
            name: max(math.floor(limit * 1000) - below, 0 if name != "floor" else -math.inf) / 1000
            for name, limit in limits.items()
            if limit < now[name]
        }
        if cut_adaptively(scores, rank, replace(thresholds, **changed)).keep == rank:
            named = {{"floor": "min_score"}.get(name, name): value for name, value in changed.items()}
            return named | ({"pool": rank} if rank > pool else {})
    return None


def settings_in_words(needed: Mapping[str, float]) -> str:
    """Return needed settings as a phrase: `relative 0.24, cliff 0.29 and pool 12`."""
    *first, last = (f"{name.replace('_', ' ')} {value:g}" for name, value in needed.items())
    return f"{', '.join(first)} and {last}" if first else last


def _rule(score: float, before: float | None, best: float, thresholds: Thresholds) -> str | None:
    if score < thresholds.floor:
        return "floor"
    if before is not None and score < thresholds.cliff * before:
        return "cliff"
    return "relative" if before is not None and score < thresholds.relative * best else None
