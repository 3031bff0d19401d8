"""Where is it? At which rank a frame stands at every find and ask of a session, as it was recorded and as it is now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Min

from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.knowledge.frame_ranks import Standing, Standings, standings_of
from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.queries import versions_of
from timemachine.knowledge.query_vectors import models_with_vectors
from timemachine.knowledge.sentence_frames import Holder, holders, in_words
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.replay.runs import frozen
from timemachine.replay.runs.plan import steps_in
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.retrieval import moment_of, query_of

MOST_STEPS: Final = 20
NOT_YET: Final = "did not exist yet"
DELETED: Final = "was deleted by then"
FRAMES_AT_ONCE: Final = 400_000
"""How many frames the steps of one page rank together, at most; at least one step is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """One frame at one step: the rank that was recorded, where it stood then and where it stands now; None: not there.

    `says` is the first two in words, and where a sentence is looked for, whether what stood there holds it.
    """

    frame: int
    recorded_rank: int | None
    then: Standing | None
    now: Standing | None
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWhere:
    """One find or ask with the frames; `error` says why they could not be ranked.

    How they are ranked is as it was recorded, and where it was not, as a find does it on its own. Of a step that could not be
    ranked it is what was recorded, None where nothing was.
    """

    sequence: int
    kind: str
    query: str | None
    mode: str | None
    top_k: int | None
    adaptive: bool | None
    frames: Sequence[Whereabouts]
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The frames that are looked for, and a page of steps; `next` is the step to go on after."""

    frames: Sequence[Holder]
    steps: Sequence[StepWhere]
    next: int | None


def where(
    session: Session,
    *,
    frame: int | None = None,
    text: str | None = None,
    after: int = 0,
    limit: int = MOST_STEPS,
) -> Where:
    """Where a frame, or what holds a sentence, stands at the finds and asks of the session after a step.

    Raises `InvalidInput` where neither or both are given or the session names no collection, `NotFound` for a frame that
    there never was.
    """
    collection = session.collection
    if collection is None:
        raise InvalidInput(
            "The session names no collection, so nothing can be looked for in it.", code="collection_needed"
        )
    sequences = steps_in(session, ReplayOptions())
    looked_for = _looked_for(collection, session, sequences, frame, (text or "").strip())
    together = max(1, min(limit, MOST_STEPS, FRAMES_AT_ONCE // max(1, collection.frame_count)))
    left = [sequence for sequence in sequences if sequence > after]
    shown = left[:together]
    actions = Action.objects.filter(session=session, sequence__in=shown).select_related(
        "session__collection", "input"
    )
    with_vectors = models_with_vectors(collection)
    return Where(
        frames=looked_for,
        steps=[
            _at(collection, action, looked_for, with_vectors)
            for action in actions.order_by("sequence")
            if looked_for
        ],
        next=shown[-1] if len(left) > together else None,
    )


def _looked_for(
    collection: Collection, session: Session, sequences: Sequence[int], frame: int | None, text: str
) -> list[Holder]:
    if (frame is None) == (not text):
        raise InvalidInput(
            "Name a frame by its number, or write a sentence of it: one of the two.",
            code="invalid_field",
            field="frame",
        )
    if frame is not None:
        title = versions_of(collection, frame).values_list("title", flat=True).last()
        return [Holder(frame=frame, title=title or None, by="named")]
    last = Action.objects.filter(session=session, sequence__in=sequences[-1:]).first()
    return holders(collection, text, [None, moment_of(last)] if last is not None else [None])


def _at(
    collection: Collection, action: Action, looked_for: Sequence[Holder], with_vectors: Sequence[str]
) -> StepWhere:
    numbers = [each.frame for each in looked_for]
    recorded = {hit.frame: hit for hit in reversed(frozen.hits_of(action)) if isinstance(hit.frame, int)}
    try:
        query, query_now = (
            query_of(action, ReplayOptions(as_of=moment), with_vectors) for moment in ("recorded", "now")
        )
        then, now = standings_of(collection, [query, query_now], numbers)
    except TimeMachineError as why:
        return _not_ranked(action, why)
    missing = [number for number in numbers if then.frames.get(number) is None]
    absent = _not_there(collection, missing, moment_of(action))
    return StepWhere(
        sequence=action.sequence,
        kind=action.kind,
        query=query.text,
        mode=query.mode,
        top_k=query.top_k,
        adaptive=query.adaptive,
        frames=[
            _one(each, query.mode, recorded.get(each.frame), (then, now), absent.get(each.frame, DELETED))
            for each in looked_for
        ],
    )


def _one(
    holder: Holder, mode: str, hit: Hit | None, at: tuple[Standings, Standings], absent: str
) -> Whereabouts:
    then, now = (each.frames.get(holder.frame) for each in at)
    rank = hit.rank if hit else None
    version = (hit.version if hit else None) or (then.version if then else None)
    return Whereabouts(
        frame=holder.frame,
        recorded_rank=rank,
        then=then,
        now=now,
        says=said(mode, rank, then, absent) + _held(holder, version),
    )


def _not_there(collection: Collection, numbers: Sequence[int], moment: datetime) -> dict[int, str]:
    """Of frames that did not exist at a moment, whether they came later or had been deleted."""
    frames = Frame.objects.filter(collection=collection, number__in=numbers).order_by()
    born = frames.values_list("number").annotate(born=Min("valid_from")) if numbers else ()
    return {number: NOT_YET if moment < since else DELETED for number, since in born}


def _held(holder: Holder, version: int | None) -> str:
    """Which version it was that stood there, where it does not hold the sentence that is looked for."""
    if holder.versions is None or version is None or version in holder.versions:
        return ""
    return f"; as version {version}, which does not hold the sentence ({in_words(holder.versions)} did)"


def _not_ranked(action: Action, why: TimeMachineError) -> StepWhere:
    kept = action.retrieval or {}
    mode, top_k, adaptive = (kept.get(name) for name in ("mode", "top_k", "adaptive"))
    return StepWhere(
        sequence=action.sequence,
        kind=action.kind,
        query=frozen.question_of(action),
        mode=mode if isinstance(mode, str) else None,
        top_k=top_k if isinstance(top_k, int) and not isinstance(top_k, bool) else None,
        adaptive=adaptive if isinstance(adaptive, bool) else None,
        frames=(),
        error=why.message,
    )


def said(mode: str, recorded_rank: int | None, then: Standing | None, absent: str = DELETED) -> str:
    """Where the frame stood at the step, in words; `absent` where it did not exist."""
    if recorded_rank is not None:
        return f"found at rank {recorded_rank}"
    if then is None:
        return absent
    place = then.places[mode]
    if place.rank is None:
        return f"existed, and a {mode} find does not rank it" + _elsewhere(mode, then)
    adaptive = "adaptive finds it" if place.by_adaptive else "adaptive does not find it"
    return f"existed at rank {place.rank:,} of {place.of:,}; {adaptive}" + _elsewhere(mode, then)


def _elsewhere(mode: str, then: Standing) -> str:
    """The other modes that would have found it within the recorded top-k."""
    found: Mapping[str, int] = {
        other: place.rank
        for other, place in then.places.items()
        if other != mode and place.by_top_k and place.rank is not None
    }
    return "".join(f"; a {other} find shows it at rank {rank}" for other, rank in found.items())
