"""How a list of passages was cut off: the rule in words, the scores as bars, and the next passage below."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from timemachine.core.pure.numbers import spaced
from timemachine.web.template_library import register

BAR, HEIGHT, MOST_BARS = 4, 40, 200
CUT_WORDS: Final = {
    "top_k": "cut off at top k",
    "all": "all matches",
    "relative": "cut off below a share of the best score",
    "cliff": "cut off at a drop in scores",
    "floor": "cut off below the minimum score",
}
_DRAWN: Final = ("curve", "below", "thresholds")
_BY_THRESHOLD: Final = {
    "relative": ("relative", "cut off below {:.0%} of the best score"),
    "cliff": ("cliff", "cut off below {:.0%} of the previous score"),
    "floor": ("floor", "cut off below a score of {:g}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One score: its rank from 1, its value, whether its passage was kept, and its position in SVG units."""

    rank: int
    score: float
    kept: bool
    left: int
    top: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCurve:
    """The scores around a cut-off, best first. `width` and `height` are those of the drawing; `below` is as recorded."""

    leg: str
    cut: str
    bars: tuple[Bar, ...]
    kept: int
    width: int
    height: int
    below: Mapping[str, Any] | None


def cut_words(rule: str | None, thresholds: object = None) -> str:
    """Return the cut-off rule in words, with its threshold if recorded."""
    name, words = _BY_THRESHOLD.get(rule or "", ("", ""))
    threshold = thresholds.get(name) if isinstance(thresholds, Mapping) else None
    if isinstance(threshold, int | float) and not isinstance(threshold, bool) and math.isfinite(threshold):
        return words.format(threshold)
    return CUT_WORDS.get(rule or "", spaced(rule or "not recorded"))


@register.filter
def cut_in_words(retrieval: Mapping[str, Any]) -> str:
    """Return the cut-off rule of a find in words."""
    return cut_words(retrieval.get("cut_by"), retrieval.get("thresholds"))


@register.filter
def drawn_curve(retrieval: Mapping[str, Any] | None) -> ScoreCurve | None:
    """Return the score curve of a find; None if none was recorded, or if it has an unknown form."""
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
    """Return the facts of a find that are shown as text, without those that are drawn."""
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
