"""The results of one setting over all steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One step with one setting. `overlap` and `rank_biased_overlap` compare with the recorded hits, None if there are none to compare.

    `grounded` counts the frames that support the recorded answer, `grounded_found` those of them that were
    found.
    """

    hits: int
    tokens: int
    overlap: float | None
    rank_biased_overlap: float | None
    grounded: int
    grounded_found: int


def tallied(steps: Sequence[Measured]) -> dict[str, Any]:
    """Return the result of a setting: sums, and means over the steps that have the value; None if none has.

    `recall` is the share of all grounded frames that were found.
    """
    grounded = sum(step.grounded for step in steps)
    found = sum(step.grounded_found for step in steps)
    tokens = sum(step.tokens for step in steps)
    return {
        "steps": len(steps),
        "hits": sum(step.hits for step in steps),
        "tokens": tokens,
        "tokens_per_step": tokens / len(steps) if steps else None,
        "grounded_frames": grounded,
        "grounded_found": found,
        "recall": found / grounded if grounded else None,
        "overlap": _mean([step.overlap for step in steps]),
        "rank_biased_overlap": _mean([step.rank_biased_overlap for step in steps]),
    }


def _mean(figures: Sequence[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None
