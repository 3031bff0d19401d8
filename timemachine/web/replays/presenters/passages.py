"""The passages of a replayed step: which one mattered, and how the two ranked lists differ."""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from timemachine.governance.sharing.read_models.replays import SharedFrame, SharedReplayStep
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.finding import PassageChanges, RankedPassage
from timemachine.web.ranked_lists import Listed

ERASED: Final = "erased"
"""What is shown for a frame's text that was verified before it was erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFrame:
    """A recorded frame: the result of verifying it, what has happened to it since, its rank now. `then` is the result before it was erased."""

    rank: int
    title: str
    name: str
    verdict: str
    since: str | None
    now: str
    fate: str
    then: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedFrame:
    """A frame that was found now, and its recorded rank."""

    rank: int
    title: str
    name: str
    score: float | None
    then: str
    fate: str


type AnyStep = ReplayStep | SharedReplayStep


def supporting_frames(grounding: Any) -> Counter[Any]:
    """Return the frames that support sentences of an answer, with the number of those sentences. A recorded grounding can have any form."""
    found = grounding.get("sentences") if isinstance(grounding, Mapping) else None
    sentences = [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
    frames = [each.get("frame") for each in sentences if each.get("grounded") is True]
    return Counter(each for each in frames if isinstance(each, int | str))


def changes_of(
    step: AnyStep, recorded: Sequence[Listed], now: Sequence[Listed], *, answered: bool
) -> PassageChanges | None:
    """Return how the passages of a step changed; None if it was not searched again."""
    retrieval = step.retrieval
    if retrieval is None:
        return None
    return PassageChanges(
        mattered=_most_supporting(supporting_frames(step.action.grounding), recorded, now),
        rests_on=_most_supporting(supporting_frames(step.grounding), recorded, now),
        gained=sorted(each.rank for each in now if each.key in retrieval.get("gained", ())),
        lost=len(retrieval.get("lost", ())),
        moved=len(retrieval.get("moved", ())),
        cut=len(recorded),
        cut_now=len(now),
        answered=answered,
        chosen=retrieval.get("mode") == "chosen",
    )


def _most_supporting(
    support: Counter[Any], recorded: Sequence[Listed], now: Sequence[Listed]
) -> RankedPassage | None:
    """Return the passage that supports most sentences; if there are several, the one with the best recorded rank."""
    before = {each.key: each for each in reversed(recorded)}
    after = {each.key: each for each in reversed(now)}
    last = len(recorded) + len(now) + 1

    def order(frame: Any) -> tuple[int, int]:
        place = before.get(frame) or after.get(frame)
        return -support[frame], place.rank if place else last

    for frame in sorted(support, key=order):
        one, other = before.get(frame), after.get(frame)
        if one or other:
            return RankedPassage(
                title=(one or other).title,  # type: ignore[union-attr]
                recorded=one.rank if one else None,
                now=other.rank if other else None,
            )
    return None


def listed(frames: Sequence[SharedFrame]) -> list[Listed]:
    """Return the passages that a replay found, or that were recorded, for the comparison of their ranks."""
    return [
        Listed(
            key=each.frame if each.frame is not None else each.sha256 or f"rank {each.rank}",
            rank=each.rank,
            title=each.title or "untitled",
            name=frame_name(each.frame),
        )
        for each in frames
    ]


def frame_name(frame: Any) -> str:
    """Return the number of a frame as `#7`, or the name that another tool gave it."""
    return f"#{frame}" if isinstance(frame, int) else str(frame or "")


def recorded_frames(
    step: AnyStep, frames: Sequence[SharedFrame], erased_ranks: AbstractSet[int]
) -> list[RecordedFrame]:
    """Return the recorded frames that were verified."""
    titles = {each.rank: each.title or "untitled" for each in frames}
    return [
        replace(found, verdict=ERASED, then=found.verdict) if found.rank in erased_ranks else found
        for found in (_recorded_frame(step, frame, titles) for frame in step.frames or [])
    ]


def _recorded_frame(step: AnyStep, frame: Mapping[str, Any], titles: dict[int, str]) -> RecordedFrame:
    name = frame_name(frame["frame"])
    now, fate = _in_other_list(step, _key(frame), frame["rank"], alone="lost", end="to")
    return RecordedFrame(
        rank=frame["rank"],
        title=titles.get(frame["rank"], "untitled"),
        name=f"{name} v{frame['version']}" if frame["version"] else name,
        verdict=frame["verdict"],
        since=frame["since"],
        now=now,
        fate=fate,
    )


def _key(frame: Mapping[str, Any]) -> Any:
    """Return the key of the frame in the comparison of the retrieval."""
    return frame["frame"] if frame["frame"] is not None else frame["sha256"] or f"rank {frame['rank']}"


def _in_other_list(step: AnyStep, frame: Any, rank: int, *, alone: str, end: str) -> tuple[str, str]:
    """Return the place of a frame in the other list, in words, and what happened to it; `alone` if it is not there."""
    retrieval = step.retrieval or {}
    if frame in retrieval.get(alone, []):
        return alone, alone
    for move in retrieval.get("moved", []):
        if move["frame"] == frame:
            return f"rank {move[end]}", "moved"
    return f"rank {rank}", "same"


def found_frame(step: AnyStep, hit: SharedFrame) -> ReplayedFrame:
    """Return a frame that was found now."""
    then, fate = _in_other_list(step, _found_key(hit), hit.rank, alone="gained", end="from")
    return ReplayedFrame(
        rank=hit.rank,
        title=hit.title or "untitled",
        name=frame_name(hit.frame),
        score=hit.score,
        then=then,
        fate=fate,
    )


def _found_key(hit: SharedFrame) -> Any:
    return hit.frame if hit.frame is not None else hit.sha256
