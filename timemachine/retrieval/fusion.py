"""Two rankings as one, by distribution-based score fusion. Pure.

Each leg's scores are mapped by their own mean μ and standard deviation σ so that μ − 3σ becomes 0 and μ + 3σ becomes 1,
clipped, weighted and summed; what a leg did not find counts 0 in it. (Mazzeschi 2023, "Distribution-Based Score Fusion".)
A fused score orders the frames of one query; it says nothing between two queries, so the raw ones are kept beside it.
"""

from collections.abc import Mapping
from math import fsum, sqrt


def fuse(
    lexical: Mapping[int, float], semantic: Mapping[int, float], semantic_weight: float
) -> dict[int, float]:
    """The fused score of every frame that either leg found, between 0 and 1, by frame; the weights add up to 1."""
    fused: dict[int, float] = {}
    for weight, leg in ((1 - semantic_weight, lexical), (semantic_weight, semantic)):
        for frame, score in _scaled(leg).items():
            fused[frame] = fused.get(frame, 0.0) + weight * score
    return fused


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    if not scores:
        return {}
    mean = fsum(scores.values()) / len(scores)
    deviation = sqrt(fsum([(score - mean) ** 2 for score in scores.values()]) / len(scores))
    if deviation == 0:
        return dict.fromkeys(scores, 0.5)
    low, span = mean - 3 * deviation, 6 * deviation
    return {
        frame: share if 0 <= (share := (score - low) / span) <= 1 else float(share > 1)
        for frame, score in scores.items()
    }
