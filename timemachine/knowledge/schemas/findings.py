"""What was found in a collection, as the API returns it."""

from typing import Any, Literal, Self, cast

from timemachine.core.pure.clock import written
from timemachine.core.pure.schemas import Schema
from timemachine.knowledge.find import BelowCut, FindResult, FrameHit
from timemachine.knowledge.pure.cutoff import Curve, Thresholds, shown
from timemachine.knowledge.queries import EmptyReason

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
    metadata: dict[str, Any]
    sha256: str
    text: str
    matched: MatchedOut | None

    @classmethod
    def of(cls, hit: FrameHit) -> "FrameHitOut":
        """The frame with its text."""
        matched = hit.matched.as_json()
        return cls.model_construct(
            rank=hit.rank,
            score=hit.score,
            scores=hit.scores,
            frame=hit.frame,
            version=hit.version,
            title=hit.title,
            uri=hit.uri,
            metadata=hit.metadata,
            sha256=hit.sha256,
            text=hit.text,
            matched=None if matched is None else MatchedOut.model_construct(**matched),
        )


class CurveOut(Schema):
    """The scores that the cut-off looked at, best first, and how many were kept."""

    leg: str
    scores: list[float]
    kept: int

    @classmethod
    def of(cls, curve: Curve) -> "CurveOut":
        """The scores to six significant digits."""
        return cls.model_construct(
            leg=curve.leg, scores=[shown(each) for each in curve.scores], kept=curve.kept
        )


class BelowOut(Schema):
    """The first frame below the cut-off."""

    frame: int
    version: int
    title: str | None
    score: float

    @classmethod
    def of(cls, below: BelowCut | None) -> "BelowOut | None":
        """The frame, if there is one."""
        if below is None:
            return None
        return cls.model_construct(
            frame=below.frame, version=below.version, title=below.title or None, score=below.score
        )


class ThresholdsOut(Schema):
    """The thresholds of the adaptive cut-off."""

    relative: float
    cliff: float
    floor: float

    @classmethod
    def of(cls, used: Thresholds | None) -> "ThresholdsOut | None":
        """The thresholds, if the cut-off was adaptive."""
        if used is None:
            return None
        return cls.model_construct(relative=used.relative, cliff=used.cliff, floor=used.floor)


class EmptyOut(Schema):
    """Why nothing could be found: the collection had no frames at that moment."""

    why: Why
    message: str
    first_frame_at: str | None

    @classmethod
    def of(cls, empty: EmptyReason | None) -> "EmptyOut | None":
        """The reason, if the collection was empty."""
        if empty is None:
            return None
        return cls.model_construct(
            why=cast("Why", empty.why), message=empty.message, first_frame_at=written(empty.first_frame_at)
        )


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
        findings = cls.model_construct(
            hits=[FrameHitOut.of(hit) for hit in found.hits],
            mode=cast("Mode", found.query.mode),
            top_k=found.query.top_k,
            adaptive=found.query.adaptive,
            cut_by=found.cut_by,
            as_of=written(found.as_of),
            embedding_model=found.embedding_model,
            semantic_search=cast("VectorSearch | None", found.semantic_search),
            curve=CurveOut.of(found.curve),
            below=BelowOut.of(found.below),
            not_embedded=found.not_embedded,
            thresholds=ThresholdsOut.of(found.thresholds),
            min_score=found.query.min_score,
            **more,
        )
        return cast("Self", findings)
