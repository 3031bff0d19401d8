"""Two rankings as one, by distribution-based score fusion. Pure.

Each leg's scores are mapped by their own mean μ and standard deviation σ so that μ − 3σ becomes 0 and μ + 3σ becomes 1,
clipped, weighted and summed; what a leg did not find counts 0 in it. (Mazzeschi 2023, "Distribution-Based Score Fusion".)
A fused score orders the frames of one query; it says nothing between two queries, so the raw ones are kept beside it.
"""

from collections.abc import Mapping
from math import fsum, sqrt, sumprod


def fuse(
    lexical: Mapping[int, float], semantic: Mapping[int, float], semantic_weight: float
) -> dict[int, float]:
    """The fused score of every frame that either leg found, between 0 and 1, by frame; the weights add up to 1."""
    fused = _weighed(lexical, 1 - semantic_weight)
    for frame, score in _weighed(semantic, semantic_weight).items():
        fused[frame] = fused.get(frame, 0.0) + score
    return fused


def _weighed(scores: Mapping[int, float], weight: float) -> dict[int, float]:
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
