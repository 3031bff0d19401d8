"""The rank of a frame in every find and ask of a session, as it was recorded and as it is now."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from django.db.models import Min

from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.knowledge.frame_ranks import FrameRank, RankReport, VersionRanks, frame_ranks_of_queries
from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.pure.cutoff import settings_in_words
from timemachine.knowledge.queries import versions_of
from timemachine.knowledge.sentence_frames import SentenceFrame, frames_with_sentence, versions_text
from timemachine.knowledge.vectors import models_with_vectors
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.replay.runs import frozen
from timemachine.replay.runs.frame_rank_schemas import (
    FrameRanksOut,
    FrameSought,
    FrameStanding,
    RankPageOut,
    StepRanksOut,
)
from timemachine.replay.runs.plan import steps_in
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.retrieval import moment_of, query_of, searched_in

MOST_STEPS: Final = 20
NOT_YET: Final = "did not exist yet"
DELETED: Final = "was deleted by then"
FRAMES_AT_ONCE: Final = 400_000
"""The maximum number of frames that the steps of one page rank together. At least one step is shown."""


def rank_page(
    session: Session,
    *,
    frame: int | None = None,
    text: str | None = None,
    after: int = 0,
    limit: int = MOST_STEPS,
) -> RankPageOut:
    """Return the ranks of a frame, or of the frames that contain a sentence, in the finds and asks of the session after a step.

    Raises: `InvalidInput` if neither or both are given or the session has no collection; `NotFound` for a
    frame that never existed.
    """
    collection = session.collection
    if collection is None:
        raise InvalidInput("The session has no collection to search in.", code="collection_needed")
    sequences = steps_in(session, ReplayOptions(skip_calls=True))
    holders_to_rank = _frames_to_rank(collection, session, sequences, frame, (text or "").strip())
    per_page = max(1, min(limit, MOST_STEPS, FRAMES_AT_ONCE // max(1, collection.frame_count)))
    remaining = [sequence for sequence in sequences if sequence > after]
    shown = remaining[:per_page]
    actions = Action.objects.filter(session=session, sequence__in=shown).select_related(
        "session__collection", "input"
    )
    with_vectors = models_with_vectors(collection)
    return RankPageOut.model_construct(
        frames=[FrameSought.from_attributes(each) for each in holders_to_rank],
        items=[
            _step_ranks(collection, action, holders_to_rank, with_vectors)
            for action in actions.order_by("sequence")
            if holders_to_rank
        ],
        next=shown[-1] if len(remaining) > per_page else None,
    )


def _frames_to_rank(
    collection: Collection, session: Session, sequences: Sequence[int], frame: int | None, text: str
) -> list[SentenceFrame]:
    if (frame is None) == (not text):
        raise InvalidInput(
            "Give either the number of a frame or a sentence from it.",
            code="invalid_field",
            field="frame",
        )
    if frame is not None:
        title = versions_of(collection, frame).values_list("title", flat=True).last()
        return [SentenceFrame(frame=frame, title=title or None, by="named")]
    last = Action.objects.filter(session=session, sequence__in=sequences[-1:]).first()
    return frames_with_sentence(collection, text, [None, moment_of(last)] if last is not None else [None])


def _step_ranks(
    collection: Collection,
    action: Action,
    holders_to_rank: Sequence[SentenceFrame],
    with_vectors: Sequence[str],
) -> StepRanksOut:
    """Rank the frames with the recorded settings, and with a find's defaults for those that were not recorded."""
    numbers = [each.frame for each in holders_to_rank]
    recorded = {hit.frame: hit for hit in reversed(frozen.hits_of(action)) if isinstance(hit.frame, int)}
    try:
        if not searched_in(collection, action):
            raise InvalidInput("This step searched another collection.", code="other_collection")
        query, query_now = (
            query_of(action, ReplayOptions(as_of=moment), with_vectors) for moment in ("recorded", "now")
        )
        then, now = frame_ranks_of_queries(collection, [query, query_now], numbers)
    except TimeMachineError as why:
        return _not_ranked(action, why)
    missing = [number for number in numbers if then.frames.get(number) is None]
    absent = _absent(collection, missing, moment_of(action))
    return StepRanksOut.from_attributes(
        query,
        sequence=action.sequence,
        kind=action.kind,
        query=query.text,
        frames=[
            _ranks_of(
                each, query.mode, recorded.get(each.frame), (then, now), absent.get(each.frame, DELETED)
            )
            for each in holders_to_rank
        ],
        error=None,
    )


def _ranks_of(
    holder: SentenceFrame, mode: str, hit: Hit | None, at: tuple[RankReport, RankReport], absent: str
) -> FrameRanksOut:
    then, now = (each.frames.get(holder.frame) for each in at)
    rank = hit.rank if hit else None
    version = (hit.version if hit else None) or (then.version if then else None)
    return FrameRanksOut.model_construct(
        frame=holder.frame,
        recorded_rank=rank,
        as_recorded=FrameStanding.of(then) if then else None,
        as_now=FrameStanding.of(now) if now else None,
        says=rank_words(mode, rank, then, absent) + _version_note(holder, version),
    )


def _absent(collection: Collection, numbers: Sequence[int], moment: datetime) -> dict[int, str]:
    """Return for each frame that did not exist at a time whether it was added later or had been deleted."""
    frames = Frame.objects.filter(collection=collection, number__in=numbers).order_by()
    born = frames.values_list("number").annotate(born=Min("valid_from")) if numbers else ()
    return {number: NOT_YET if moment < since else DELETED for number, since in born}


def _version_note(holder: SentenceFrame, version: int | None) -> str:
    """Return a note on the version at that rank if it does not contain the sentence."""
    if holder.versions is None or version is None or version in holder.versions:
        return ""
    return (
        f"; as version {version}, which does not contain the sentence ({versions_text(holder.versions)} did)"
    )


def _not_ranked(action: Action, why: TimeMachineError) -> StepRanksOut:
    """Return the step with those of its settings that were recorded."""
    recorded = action.retrieval or {}
    mode, top_k, adaptive = (recorded.get(name) for name in ("mode", "top_k", "adaptive"))
    return StepRanksOut.from_attributes(
        action,
        query=frozen.question_of(action),
        mode=mode if isinstance(mode, str) else None,
        top_k=top_k if isinstance(top_k, int) and not isinstance(top_k, bool) else None,
        adaptive=adaptive if isinstance(adaptive, bool) else None,
        frames=[],
        error=why.message,
    )


def rank_words(mode: str, recorded_rank: int | None, then: VersionRanks | None, absent: str = DELETED) -> str:
    """Return the rank of the frame in the step in words; `absent` if it did not exist."""
    if recorded_rank is not None:
        return f"found at rank {recorded_rank}"
    if then is None:
        return absent
    place = then.places[mode]
    if place.rank is None:
        return f"existed, and a {mode} find does not rank it" + _elsewhere(mode, then)
    return f"existed at rank {place.rank:,} of {place.of:,}; {_adaptive_words(place)}" + _elsewhere(
        mode, then
    )


def _adaptive_words(place: FrameRank) -> str:
    if place.by_adaptive:
        return "adaptive finds it"
    if not place.needs:
        return "adaptive does not find it"
    return f"adaptive finds it only with {settings_in_words(place.needs)}"


def _elsewhere(mode: str, then: VersionRanks) -> str:
    """Name the other modes that would have found it within the recorded top-k."""
    found: Mapping[str, int] = {
        other: place.rank
        for other, place in then.places.items()
        if other != mode and place.by_top_k and place.rank is not None
    }
    return "".join(f"; a {other} find shows it at rank {rank}" for other, rank in found.items())
