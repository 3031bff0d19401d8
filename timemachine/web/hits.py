"""A search hit for display, whether recorded or just computed."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from django.urls import reverse

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import spaced
from timemachine.knowledge.find import FindResult, FrameHit
from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.pure.cutoff import settings_in_words
from timemachine.recording.sessions.models import Hit
from timemachine.recording.timeline.step import Passage
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
class ShownHit:
    """A passage with its rank; `address` is the URL of its frame, empty if unknown.

    None means not recorded. `scores` are the raw scores by search mode.
    """

    rank: int
    title: str
    frame: str
    version: int | None
    score: float | None
    scores: Mapping[str, float]
    text: str | None
    matched: Mapping[str, Any] | None
    address: str


def of_found(collection: Collection, found: FrameHit) -> ShownHit:
    """Return a hit of a find that was just made."""
    return ShownHit(
        rank=found.rank,
        title=found.title,
        frame=f"{found.frame}",
        version=found.version,
        score=found.score,
        scores=found.scores,
        text=found.text,
        matched=found.matched.as_json(),
        address=_address(collection, found.frame, found.version),
    )


def of_passage(collection: Collection | None, passage: Passage) -> ShownHit:
    """Return a recorded hit, linked to its frame if that is in the session's collection."""
    hit, address = passage.hit, ""
    if collection is not None and hit.stored_frame_id is not None and isinstance(hit.frame, int):
        address = _address(collection, hit.frame, hit.version)
    return ShownHit(
        rank=hit.rank,
        title=hit.title or "",
        frame="" if hit.frame is None else f"{hit.frame}",
        version=hit.version,
        score=hit.score,
        scores=hit.scores or {},
        text=None if passage.text is None else passage.text.text,
        matched=hit.matched,
        address=address,
    )


def frame_addresses(passages: Iterable[Passage]) -> dict[int, str]:
    """Return the URLs of the frames of recorded hits, by row. One query. Unknown and erased frames are absent."""
    rows = [each.hit.stored_frame_id for each in passages if each.hit.stored_frame_id is not None]
    if not rows:
        return {}
    found = Frame.objects.filter(id__in=rows).values_list("id", "collection__name", "number", "version")
    return {
        row: reverse("frame", args=[collection, number], query={"version": version})
        for row, collection, number, version in found
    }


@register.filter
def address_in(hit: Hit, addresses: Mapping[int, str]) -> str:
    """Return the URL of the frame of a recorded hit; empty if unknown."""
    return (addresses or {}).get(hit.stored_frame_id or 0, "")


def retrieval_json(findings: FindResult) -> JsonObject:
    """Return the retrieval facts of a find that was just made, in the form of a recorded one."""
    return {
        "cut_by": findings.cut_by,
        "curve": findings.curve.as_json(),
        "below": findings.below.as_json() if findings.below else None,
        "not_embedded": findings.not_embedded,
    }


def _address(collection: Collection, frame: int, version: int | None) -> str:
    return reverse("frame", args=[collection.name, frame], query={"version": version} if version else None)


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
    included, below = curve.get("kept"), found.get("below")
    included = included if isinstance(included, int) else 0
    return ScoreCurve(
        leg=str(curve.get("leg") or ""),
        cut=cut_words(found.get("cut_by"), found.get("thresholds")),
        bars=tuple(_bars(scores, included)),
        kept=included,
        width=len(scores) * BAR,
        height=HEIGHT,
        below=below if isinstance(below, dict) else None,
    )


@register.filter
def needed_in_words(needed: Mapping[str, Any] | None) -> str:
    """Return the settings with which a cut-off would keep one more passage; empty if there are none."""
    return settings_in_words(needed) if needed else ""


@register.filter
def without_curve(retrieval: Mapping[str, Any] | None) -> JsonObject:
    """Return the facts of a find that are shown as text, without those that are drawn."""
    return {name: value for name, value in (retrieval or {}).items() if name not in _DRAWN}


def _is_drawable(scores: Any) -> TypeGuard[list[float]]:
    numbers = isinstance(scores, list) and 0 < len(scores) <= MOST_BARS
    return numbers and all(isinstance(score, int | float) and math.isfinite(score) for score in scores)


def _bars(scores: list[float], included: int) -> Iterator[Bar]:
    highest = max(0.0, *scores) or 1.0
    for place, score in enumerate(scores):
        height = round(max(HEIGHT * score / highest, 0.5), 2)
        yield Bar(
            rank=place + 1,
            score=score,
            kept=place < included,
            left=place * BAR,
            top=round(HEIGHT - height, 2),
            height=height,
        )
