"""What was found in a collection, as the API returns it."""

from typing import Any, Literal, Self

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Schema
from timemachine.knowledge.find import FindResult, FrameHit
from timemachine.knowledge.pure.cutoff import shown

Mode = Literal["hybrid", "semantic", "lexical"]
VectorSearch = Literal["exact", "hnsw"]
Why = Literal["no_frames_yet", "no_frames_then", "no_frames_left"]


class MatchedOut(Schema):
    """What a question shares with a frame: words and identifiers, each with its part of the BM25 score, the largest first."""

    terms: dict[str, float] | None = None  # absent if there are none
    identifiers: dict[str, float] | None = None  # absent if there are none


class FrameHitOut(Schema):
    """A frame that was found: its score in the mode, the raw scores by keyword and by meaning, and what it shares with the question."""

    rank: int
    score: float
    scores: dict[str, float]
    frame: int
    version: int
    title: str
    uri: str
    metadata: JsonObject
    sha256: str
    text: str
    matched: MatchedOut | None

    @classmethod
    def of(cls, hit: FrameHit) -> "FrameHitOut":
        """The frame with its text."""
        matched = hit.matched.as_json()
        return cls.from_attributes(hit, matched=matched and MatchedOut.model_construct(**matched))


class CurveOut(Schema):
    """The scores that the cut-off looked at, best first, and how many were kept."""

    leg: str
    scores: list[float]
    kept: int


class BelowOut(Schema):
    """The first frame below the cut-off."""

    frame: int
    version: int
    title: str | None
    score: float


class ThresholdsOut(Schema):
    """The thresholds of the adaptive cut-off."""

    relative: float
    cliff: float
    floor: float


class EmptyOut(Schema):
    """Why nothing could be found: the collection had no frames at that moment."""

    why: Why
    message: str
    first_frame_at: str | None


class FindingsOut(Schema):
    """The frames that were found, and how. `not_embedded` is how many frames have no vector and could not be found by meaning."""

    hits: list[FrameHitOut]
    mode: Mode
    top_k: int
    adaptive: bool
    cut_by: str
    as_of: str
    embedding_model: str | None
    semantic_search: VectorSearch | None
    curve: CurveOut
    below: BelowOut | None
    not_embedded: int | None
    thresholds: ThresholdsOut | None
    min_score: float | None

    @classmethod
    def of_findings(cls, found: FindResult, **more: Any) -> Self:
        """The findings, with the fields that a subclass has besides."""
        below = found.below
        return cls.from_attributes(
            found,
            hits=[FrameHitOut.of(hit) for hit in found.hits],
            mode=found.query.mode,
            top_k=found.query.top_k,
            adaptive=found.query.adaptive,
            curve=CurveOut.from_attributes(found.curve, scores=[shown(each) for each in found.curve.scores]),
            below=below and BelowOut.from_attributes(below, title=below.title or None),
            min_score=found.query.min_score,
            **more,
        )
