"""A search hit for display, whether recorded or just computed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from timemachine.knowledge.find import FindResult, FrameHit
from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.sessions.models import Hit
from timemachine.recording.timeline.step import Passage
from timemachine.web.template_library import register


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
    scores: tuple[tuple[str, float], ...]
    text: str | None
    matched: Mapping[str, Any] | None
    address: str

    @property
    def raw_scores(self) -> dict[str, float]:
        """Return the raw scores by search mode."""
        return dict(self.scores)


def of_found(collection: Collection, found: FrameHit) -> ShownHit:
    """Return a hit of a find that was just made."""
    return ShownHit(
        rank=found.rank,
        title=found.title,
        frame=f"{found.frame}",
        version=found.version,
        score=found.score,
        scores=_score_pairs(found.scores),
        text=found.text,
        matched=found.matched.as_json(),
        address=_address(collection, found.frame, found.version),
    )


def of_passage(collection: Collection | None, passage: Passage) -> ShownHit:
    """Return a recorded hit, linked to its frame if that is in the session's collection."""
    hit = passage.hit
    return ShownHit(
        rank=hit.rank,
        title=hit.title or "",
        frame="" if hit.frame is None else f"{hit.frame}",
        version=hit.version,
        score=hit.score,
        scores=_score_pairs(hit.scores),
        text=None if passage.text is None else passage.text.text,
        matched=hit.matched,
        address=_address_of(collection, hit),
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


def retrieval_json(findings: FindResult) -> dict[str, Any]:
    """Return the retrieval facts of a find that was just made, in the form of a recorded one."""
    return {
        "cut_by": findings.cut_by,
        "curve": findings.curve.as_json(),
        "below": findings.below.as_json() if findings.below else None,
        "not_embedded": findings.not_embedded,
    }


def _address_of(collection: Collection | None, hit: Hit) -> str:
    if collection is None or hit.stored_frame_id is None or not isinstance(hit.frame, int):
        return ""
    return _address(collection, hit.frame, hit.version)


def _score_pairs(scores: Mapping[str, float] | None) -> tuple[tuple[str, float], ...]:
    return tuple((scores or {}).items())


def _address(collection: Collection, frame: int, version: int | None) -> str:
    return reverse("frame", args=[collection.name, frame], query={"version": version} if version else None)
