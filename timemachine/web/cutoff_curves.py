"""How a list of passages was cut, as a page shows it: the rule in words, the scores as bars, what lay just below."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from timemachine.core.pure.formatting import spaced
from timemachine.web.template_library import register

BAR, HEIGHT, MOST_BARS = 4, 40, 200
CUT_WORDS: Final = {
    "top_k": "cut at top k",
    "all": "everything that was found",
    "relative": "cut below a share of the best score",
    "cliff": "cut where the scores fall off",
    "floor": "cut below what counts as relevant",
}
_DRAWN: Final = ("curve", "below", "thresholds")
_BY_THRESHOLD: Final = {
    "relative": ("relative", "cut below {:.0%} of the best score"),
    "cliff": ("cliff", "cut where a score falls below {:.0%} of the one before"),
    "floor": ("floor", "cut below a score of {:g}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One score: its rank from 1, its value, whether its passage stayed, and where it is drawn, in units of the picture."""

    rank: int
    score: float
    kept: bool
    left: int
    top: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCurve:
    """The scores behind a cut, best first. `width` and `height` are those of the picture; `below` as it was recorded."""

    leg: str
    cut: str
    bars: tuple[Bar, ...]
    kept: int
    width: int
    height: int
    below: Mapping[str, Any] | None


def cut_words(rule: str | None, thresholds: object = None) -> str:
    """The rule that ended a list, in words, with its threshold where that was recorded."""
    name, words = _BY_THRESHOLD.get(rule or "", ("", ""))
    threshold = thresholds.get(name) if isinstance(thresholds, Mapping) else None
    if isinstance(threshold, int | float) and not isinstance(threshold, bool) and math.isfinite(threshold):
        return words.format(threshold)
    return CUT_WORDS.get(rule or "", spaced(rule or "not recorded"))


@register.filter
def cut_in_words(retrieval: Mapping[str, Any]) -> str:
    """The rule that ended the list of a find, in words."""
    return cut_words(retrieval.get("cut_by"), retrieval.get("thresholds"))


@register.filter
def drawn_curve(retrieval: Mapping[str, Any] | None) -> ScoreCurve | None:
    """The curve of a find; None where none was recorded, or what was recorded is none of ours."""
    found = retrieval or {}
    curve = found.get("curve")
    if not isinstance(curve, dict) or not _is_drawable(scores := curve.get("scores")):
        return None
    kept, below = curve.get("kept"), found.get("below")
    kept = kept if isinstance(kept, int) else 0
    return ScoreCurve(
        leg=str(curve.get("leg") or ""),
        cut=cut_words(found.get("cut_by"), found.get("thresholds")),
        bars=tuple(_bars(scores, kept)),
        kept=kept,
        width=len(scores) * BAR,
        height=HEIGHT,
        below=below if isinstance(below, dict) else None,
    )


@register.filter
def without_curve(retrieval: Mapping[str, Any] | None) -> dict[str, Any]:
    """The facts of a find that are shown as a line: all but those that are drawn."""
    return {name: value for name, value in (retrieval or {}).items() if name not in _DRAWN}


def _is_drawable(scores: Any) -> TypeGuard[list[float]]:
    numbers = isinstance(scores, list) and 0 < len(scores) <= MOST_BARS
    return numbers and all(isinstance(score, int | float) and math.isfinite(score) for score in scores)


def _bars(scores: list[float], kept: int) -> Iterator[Bar]:
    highest = max(0.0, *scores) or 1.0
    for place, score in enumerate(scores):
        height = round(max(HEIGHT * score / highest, 0.5), 2)
        yield Bar(
            rank=place + 1,
            score=score,
            kept=place < kept,
            left=place * BAR,
            top=round(HEIGHT - height, 2),
            height=height,
        )
