"""Trials: a find or ask is repeated with a change, and stored as a replay of that step alone."""

from uuid import UUID

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import action_of
from timemachine.replay.runs import commands, frozen
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure import options as replay_options
from timemachine.replay.runs.pure.engine import REPLAYED_KINDS
from timemachine.replay.runs.pure.options import CALL_OPTIONS, ReplayOptions
from timemachine.replay.runs.trial_passages import named_passages

_OF_AN_ASK = ("use_model", *CALL_OPTIONS, "frames")


def try_step(session: Session, options: ReplayOptions, *, by: str, replay_id: UUID | None = None) -> Replay:
    """Plan and store the trial of `options.step`. The caller enqueues it. Nothing is written into the session.

    Everything that is not changed is as recorded, including the collection unless `as_of` says otherwise.

    Raises: `InvalidInput` for options that cannot be changed, `NotFound` for a missing step or frame, and
    what `launch` raises.
    """
    replay_options.check(options)
    action = step_to_try(session, options.step or 0)
    complete = options.model_copy(update={"as_of": options.as_of or "recorded"})
    if action.kind == "find":
        _check_find(options)
    else:
        _check_ask(action, complete)
    return commands.launch(session, complete, by=by, replay_id=replay_id)


def step_to_try(session: Session, sequence: int) -> Action:
    """Return the find or ask with that sequence. Raises `NotFound`, or `InvalidInput` for a step of another kind."""
    action = action_of(session, sequence)
    if action.kind not in REPLAYED_KINDS:
        raise InvalidInput(
            f"Step {sequence} is a {action.kind.replace('_', ' ')}; only a find or an ask can be tried again.",
            code="not_replayable",
        )
    return action


def _check_find(options: ReplayOptions) -> None:
    given = [name for name in _OF_AN_ASK if getattr(options, name) is not None]
    if given:
        raise InvalidInput(
            f"A find calls no model, so `{given[0]}` would have no effect. Change its query or its retrieval options.",
            code="not_for_a_find",
            field=given[0],
        )


def _check_ask(action: Action, options: ReplayOptions) -> None:
    if options.use_model is None and action.model is None:
        raise InvalidInput(
            "The model of this step was not recorded. Choose one.",
            code="model_needed",
            field="use_model",
        )
    if options.frames is not None:
        named_passages(action, frozen.hits_of(action), options)
