"""One step, one change: a find or ask is made again with something changed, and kept as a replay of that step alone."""

from uuid import UUID

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import action_of
from timemachine.replay.runs import commands, frozen
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure import options as replay_options
from timemachine.replay.runs.pure.engine import REPLAYED_KINDS
from timemachine.replay.runs.pure.options import CALL_OPTIONS, ReplayOptions
from timemachine.replay.runs.trial_passages import chosen

_OF_AN_ASK = ("use_model", *CALL_OPTIONS, "frames")


def try_step(session: Session, options: ReplayOptions, *, by: str, replay_id: UUID | None = None) -> Replay:
    """Plan the trial of `options.step`; the caller enqueues it. Nothing is written into the session.

    What is not changed is as it was recorded, also the collection, where `as_of` does not say otherwise.
    Raises `InvalidInput` for what cannot be changed, `NotFound` for a step or a frame that there is not, and as `launch` does.
    """
    replay_options.check(options)
    action = step_to_try(session, options.step or 0)
    whole = options.model_copy(update={"as_of": options.as_of or "recorded"})
    if action.kind == "find":
        _check_find(options)
    else:
        _check_ask(action, whole)
    return commands.launch(session, whole, by=by, replay_id=replay_id)


def step_to_try(session: Session, sequence: int) -> Action:
    """The find or ask of that sequence. Raises `NotFound`, `InvalidInput` for a step of another kind."""
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
            f"A find asks no model, so `{given[0]}` would have no effect; change its query, or how it is looked for.",
            code="not_for_a_find",
            field=given[0],
        )


def _check_ask(action: Action, options: ReplayOptions) -> None:
    if options.use_model is None and action.model is None:
        raise InvalidInput(
            "The model of this step was not recorded; choose one to ask.",
            code="model_needed",
            field="use_model",
        )
    if options.frames is not None:
        chosen(action, frozen.hits_of(action), options)
