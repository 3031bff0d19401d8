"""At which ranks frames are in a session's finds and asks, as the API returns it."""

from typing import Literal

from timemachine.core.pure.schemas import Schema
from timemachine.knowledge.frame_ranks import VersionRanks
from timemachine.recording.sessions.pure.vocabulary import Kind


class FrameSought(Schema):
    """A frame whose rank is sought: it was `named`, it `holds` the sentence, or it is `nearest` to it.

    `versions` are those that hold the sentence, the latest first; null if no sentence was searched for. `says` has it in words.
    """

    frame: int
    title: str | None
    by: Literal["named", "holds", "nearest"]
    versions: list[int] | None
    says: str


class FrameRankInMode(Schema):
    """The rank of a frame in one mode, and which cut would leave it in; a null rank: the mode does not rank it.

    `needs` are the settings with which an adaptive cut-off would leave it in; null if it does, or if none would.
    """

    rank: int | None
    of: int
    score: float | None
    by_top_k: bool
    by_adaptive: bool
    needs: dict[str, float] | None


class FrameStanding(Schema):
    """The version that a frame had at a moment, and its place in each mode that ranked it."""

    version: int
    hybrid: FrameRankInMode | None = None
    semantic: FrameRankInMode | None = None
    lexical: FrameRankInMode | None = None

    @classmethod
    def of(cls, ranks: VersionRanks) -> "FrameStanding":
        return cls.from_attributes(ranks, **ranks.places)


class FrameRanksOut(Schema):
    """The rank that was recorded of a frame, and its places then and now; null if the frame did not exist. `says` has it in words."""

    frame: int
    recorded_rank: int | None
    as_recorded: FrameStanding | None
    as_now: FrameStanding | None
    says: str


class StepRanksOut(Schema):
    """A find or ask, how it searches, and where the frames are in it; `error` says why they could not be ranked."""

    sequence: int
    kind: Kind
    query: str | None
    mode: str | None
    top_k: int | None
    adaptive: bool | None
    frames: list[FrameRanksOut]
    error: str | None


class RankPageOut(Schema):
    """The frames, and a page of steps with their ranks; `next` is the step to continue after, null at the end."""

    frames: list[FrameSought]
    items: list[StepRanksOut]
    next: int | None
