"""Combine two rankings by distribution-based score fusion. Pure.

Each retriever's scores are mapped by their own mean μ and standard deviation σ so that μ − 3σ becomes 0 and μ +
3σ becomes 1. They are clipped, weighted and summed. A frame that a retriever did not find has score 0 in it.
(Mazzeschi 2023, "Distribution-Based Score Fusion".) A fused score orders the frames of one query and cannot be
compared between queries, so the raw scores are kept as well.
"""

from collections.abc import Mapping
from math import fsum, sqrt, sumprod


def fuse(
    lexical: Mapping[int, float], semantic: Mapping[int, float], semantic_weight: float
) -> dict[int, float]:
    """Return the fused score (0 to 1) of every frame that either retriever found. The two weights add up to 1."""
    fused = _normalised(lexical, 1 - semantic_weight)
    for frame, score in _normalised(semantic, semantic_weight).items():
        fused[frame] = fused.get(frame, 0.0) + score
    return fused


def _normalised(scores: Mapping[int, float], weight: float) -> dict[int, float]:
    if not scores:
        return {}
    mean = fsum(scores.values()) / len(scores)
    apart = [score - mean for score in scores.values()]
    deviation = sqrt(sumprod(apart, apart) / len(scores))
    if deviation == 0:
        return dict.fromkeys(scores, 0.5 * weight)
    span = 6 * deviation
    return {
        frame: weight * (share if 0 <= (share := 0.5 + far / span) <= 1 else share > 1)
        for frame, far in zip(scores, apart, strict=True)
    }
