"""Trials: a find, an ask or a model call is repeated with a change, and stored as a replay of that step alone.

A trial may name its passages: frozen passages of the step in any order, and other frames of the collection.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from timemachine.core.payloads.queries import text
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import spaced
from timemachine.knowledge.hit_rows import MatchedTerms
from timemachine.knowledge.models import Frame
from timemachine.knowledge.queries import frames_at
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.recording.sessions.queries import action_of
from timemachine.replay.runs import commands, frozen
from timemachine.replay.runs.frozen import frame_of
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure import options as replay_options
from timemachine.replay.runs.pure.context import VERIFIED
from timemachine.replay.runs.pure.engine import REPLAYED_KINDS
from timemachine.replay.runs.pure.options import CALL_OPTIONS, RETRIEVAL_OPTIONS, ReplayOptions
from timemachine.replay.runs.retrieval import moment_of, recorded_key, searched_collection
from timemachine.replay.runs.step_schemas import RetrievalCompared
from timemachine.text.pure.difference.ranking import Ranked, compare_rankings

_OF_AN_ASK = ("use_model", *CALL_OPTIONS, "frames")
_NOT_OF_A_CALL = ("frames", "prompt_template", *RETRIEVAL_OPTIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPassage:
    """A passage that a person named. It has a rank but no score, because nothing ranked it."""

    rank: int
    frame: int | str | None
    version: int | None
    title: str
    uri: str | None
    metadata: JsonObject | None
    sha256: str | None
    text: str
    stored_frame: int | None
    score: float | None = None
    scores: dict[str, float] | None = None
    matched: MatchedTerms = field(default_factory=MatchedTerms)


def try_step(session: Session, options: ReplayOptions, *, by: str, replay_id: UUID | None = None) -> Replay:
    """Plan and store the trial of `options.step`. The caller enqueues it. Nothing is written into the session.

    Everything that is not changed is as recorded, including the collection unless `as_of` says otherwise.

    Raises: `InvalidInput` for options that cannot be changed, `NotFound` for a missing step or frame, and
    what `launch` raises.
    """
    _, complete = checked(session, options)
    return commands.launch(session, complete, by=by, replay_id=replay_id)


def checked(session: Session, options: ReplayOptions) -> tuple[Action, ReplayOptions]:
    """Return the step to try and the complete options of its trial. Raises `InvalidInput` and `NotFound` as `try_step` does."""
    replay_options.check(options)
    action = step_to_try(session, options.step or 0)
    complete = options.model_copy(update={"as_of": options.as_of or "recorded"})
    if action.kind == "find":
        _check_find(options)
    elif action.kind == MODEL_CALL:
        _check_call(action, options)
    else:
        _check_ask(action, complete)
    return action, complete


def step_to_try(session: Session, sequence: int) -> Action:
    """Return the find, ask or model call with that sequence. Raises `NotFound`, or `InvalidInput` for a step of another kind."""
    action = action_of(session, sequence)
    if action.kind not in REPLAYED_KINDS:
        raise InvalidInput(
            f"Step {sequence} is a {action.kind.replace('_', ' ')}; only a find, an ask or a model call can be tried again.",
            code="not_replayable",
        )
    return action


def named_passages(
    action: Action, hits: Sequence[Hit], options: ReplayOptions
) -> tuple[list[NamedPassage], RetrievalCompared]:
    """Return the named passages in order, and how they differ from the recorded ones.

    A recorded passage is the frozen one, and its bytes must still have the recorded hash. Any other number is
    a frame of the step's collection as it was at the step, or with `as_of` as it is now.

    Raises: `InvalidInput`, `NotFound`.
    """
    recorded = {
        key: hit for hit in reversed(hits) for key in _names(hit)
    }  # the better rank wins if a name occurs twice
    names = options.frames or ()
    added = _added(action, hits, [name for name in names if name not in recorded], options)
    passages = [
        _frozen(rank, recorded[name]) if name in recorded else _of_collection(rank, added[name])
        for rank, name in enumerate(names, 1)
    ]
    compared = compare_rankings(
        [Ranked(key=recorded_key(hit), rank=hit.rank) for hit in hits],
        [Ranked(key=_key(each), rank=each.rank) for each in passages],
        max(len(hits), len(passages), 1),
    )
    return passages, RetrievalCompared.of(
        compared,
        mode="chosen",
        as_of=moment_of(action) if options.as_of == "recorded" else None,
        recorded_hits=len(hits),
        found_hits=len(passages),
    )


def passage_names(hits: Sequence[Hit]) -> list[int | str]:
    """Return the names of the recorded passages, in the order of their ranks."""
    return list(dict.fromkeys(_names(hit)[0] for hit in hits))


def _names(hit: Hit) -> list[int | str]:
    """Return the frame's number or name, and always `rank 3`: two passages of a step may have the same name, or none."""
    by_rank = f"rank {hit.rank}"
    return [by_rank] if hit.frame is None else [hit.frame, by_rank]


def _added(
    action: Action, hits: Sequence[Hit], names: Sequence[int | str], options: ReplayOptions
) -> Mapping[int | str, Frame]:
    unknown = next((name for name in names if not isinstance(name, int)), None)
    if unknown is not None:
        raise InvalidInput(
            f"This step has no passage {str(unknown)[:80]!r}. Name its passages, or frames by their number.",
            code="invalid_field",
            field="frames",
        )
    if not names:
        return {}
    then = options.as_of == "recorded"
    collection = searched_collection(action, hits)
    frames = frames_at(collection, moment_of(action) if then else None)
    found: dict[int | str, Frame] = {frame.number: frame for frame in frames.filter(number__in=names)}
    missing = next((name for name in names if name not in found), None)
    if missing is not None:
        moment = (
            "at this step; use the collection as it is now if the frame was added later" if then else "now"
        )
        raise NotFound(
            f"There is no frame {missing} in {collection.name} {moment}.",
            code="frame_not_found",
            field="frames",
        )
    return found


def _frozen(rank: int, hit: Hit) -> NamedPassage:
    verdict = frame_of(hit).verdict
    if hit.payload is None or verdict != VERIFIED:
        raise InvalidInput(
            f"The frozen passage at rank {hit.rank} is {spaced(verdict)}; leave it out.",
            code="context_not_verified",
            field="frames",
        )
    return NamedPassage(
        rank=rank,
        frame=hit.frame,
        version=hit.version,
        title=hit.title or "",
        uri=hit.uri,
        metadata=hit.metadata,
        sha256=hit.sha256,
        text=text(hit.payload),
        stored_frame=hit.stored_frame_id,
    )


def _of_collection(rank: int, frame: Frame) -> NamedPassage:
    return NamedPassage(
        rank=rank,
        frame=frame.number,
        version=frame.version,
        title=frame.title,
        uri=frame.uri,
        metadata=frame.metadata,
        sha256=frame.sha256,
        text=text(frame.payload),
        stored_frame=frame.id,
    )


def _key(passage: NamedPassage) -> int | str:
    return passage.frame if passage.frame is not None else passage.sha256 or f"rank {passage.rank}"


def _check_find(options: ReplayOptions) -> None:
    given = [name for name in _OF_AN_ASK if getattr(options, name) is not None]
    if given:
        raise InvalidInput(
            f"A find calls no model, so `{given[0]}` would have no effect. Change its query or its retrieval options.",
            code="not_for_a_find",
            field=given[0],
        )


def _check_call(action: Action, options: ReplayOptions) -> None:
    _check_model(action, options)
    given = [name for name in _NOT_OF_A_CALL if getattr(options, name) is not None]
    if given:
        raise InvalidInput(
            f"A model call sends its recorded messages, so `{given[0]}` would have no effect. Change the model, the "
            "system prompt, the question (its last message of the user) or the parameters.",
            code="not_for_a_model_call",
            field=given[0],
        )


def _check_ask(action: Action, options: ReplayOptions) -> None:
    _check_model(action, options)
    if options.frames is not None:
        named_passages(action, frozen.hits_of(action), options)


def _check_model(action: Action, options: ReplayOptions) -> None:
    if options.use_model is None and action.model is None:
        raise InvalidInput(
            "The model of this step was not recorded. Choose one.",
            code="model_needed",
            field="use_model",
        )
