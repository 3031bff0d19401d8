"""What a step of a replay has to do, given what was recorded and the options."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from timemachine.llm.pure.catalogue import ALIASES, LOCAL
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL, MODEL_CALLS
from timemachine.replay.runs.pure.context import ALTERED, MISSING, NOT_RECORDED, VERIFIED
from timemachine.replay.runs.pure.options import ReplayOptions

REPLAYED_KINDS: Final = ("find", "ask", MODEL_CALL)
_SKIPPED_BY: Final[Mapping[str, str]] = {"find": "skip_finds", "ask": "skip_asks", MODEL_CALL: "skip_calls"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The facts of an action that decide its step.

    `within_ask`: it is part of an ask, which is replayed as a whole. `is_copied`: it happened in another session.
    """

    sequence: int
    kind: str
    within_ask: bool
    has_collection: bool
    has_retrieval: bool
    model: str | None
    is_copied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What to do with a step: repeat its search, use named passages, or call a model; `why_not` says why it does less."""

    find_again: bool = False
    choose: bool = False
    call: str | None = None
    why_not: str | None = None


def is_replayed(recorded: Recorded, options: ReplayOptions) -> bool:
    """Return whether the action becomes a step of the replay. A copied one does only if it is the step that was named."""
    if options.step is not None:
        return recorded.kind in REPLAYED_KINDS and recorded.sequence == options.step
    if recorded.kind not in REPLAYED_KINDS or recorded.within_ask or recorded.is_copied:
        return False
    if getattr(options, _SKIPPED_BY[recorded.kind]):
        return False
    after = options.after_sequence or 0
    return after < recorded.sequence <= (options.through_sequence or recorded.sequence)


def provider_called(recorded: Recorded, options: ReplayOptions) -> str | None:
    """Return the provider that the step will call, as far as is known; None if it calls none or the local one."""
    if recorded.kind not in MODEL_CALLS:
        return None
    written = (_model(recorded, options) or LOCAL).partition(":")[0].lower()
    provider = ALIASES.get(written, written)
    return None if provider == LOCAL else provider


def _model(recorded: Recorded, options: ReplayOptions) -> str | None:
    """Return the model that a step asks, None if none was chosen or recorded."""
    return options.use_model if options.audit else options.use_model or recorded.model


def uses_own_passages(kind: str, options: ReplayOptions) -> bool:
    """Return whether a step of that kind searches again or uses named passages, instead of the frozen ones."""
    if options.audit or kind == MODEL_CALL:
        return False
    over_the_frozen = options.step is not None and kind == "ask" and not options.repeats_retrieval
    return options.frames is not None if over_the_frozen else True


def intent(recorded: Recorded, options: ReplayOptions, context: str, frames: int) -> Intent:
    """Return what the step does, given the verdict on its context and its number of frozen frames."""
    if recorded.kind == MODEL_CALL:
        return _call_again(recorded, options, context)
    if options.audit:
        return _audit(recorded, options, context, nothing_was_found=recorded.has_retrieval and not frames)
    if options.step is not None and recorded.kind == "ask" and not options.repeats_retrieval:
        nothing_was_found = recorded.has_retrieval and not frames
        return _trial(recorded, options, context, nothing_was_found=nothing_was_found)
    if not recorded.has_collection:
        return Intent(why_not="The session has no collection, so its search cannot be repeated.")
    if recorded.kind == "find":
        return Intent(find_again=True)
    model = options.use_model or recorded.model
    return Intent(find_again=True, call=model, why_not=None if model else _NO_MODEL)


def _call_again(recorded: Recorded, options: ReplayOptions, context: str) -> Intent:
    model = _model(recorded, options)
    if model is None:
        return Intent(why_not=None if options.audit else _NO_MODEL)
    why_not = _WHY_NOT_CALLED.get(context)
    return Intent(why_not=why_not) if why_not else Intent(call=model)


def _trial(recorded: Recorded, options: ReplayOptions, context: str, *, nothing_was_found: bool) -> Intent:
    model = options.use_model or recorded.model
    if model is None:
        return Intent(why_not=_NO_MODEL)
    if options.frames is not None:
        return Intent(choose=True, call=model)
    if context == VERIFIED or nothing_was_found:
        return Intent(call=model)
    return Intent(why_not=_WHY_NOT[context])


def _audit(recorded: Recorded, options: ReplayOptions, context: str, *, nothing_was_found: bool) -> Intent:
    if recorded.kind == "find" or options.use_model is None:
        return Intent()
    if context == VERIFIED or nothing_was_found:
        return Intent(call=options.use_model)
    return Intent(why_not=_WHY_NOT[context])


_NO_MODEL = "The model of this step was not recorded. Choose one to ask again."
_WHY_NOT = {
    ALTERED: "A frozen passage no longer matches its recorded hash, so the question was not asked again.",
    MISSING: "A frozen passage is missing, so the question was not asked again.",
    NOT_RECORDED: "The context of this question was not recorded completely, so it was not asked again.",
}
_WHY_NOT_CALLED: Final[Mapping[str, str]] = {
    ALTERED: "A recorded part of the request no longer matches its recorded hash, so the request was not sent again.",
    MISSING: "A step that is part of the request was deleted, so the request was not sent again.",
    NOT_RECORDED: "The request or its beginning was not recorded, so it was not sent again.",
}
