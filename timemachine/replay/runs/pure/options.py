"""The options of replays, and which of them conflict.

These classes are the only definition of the options: API requests, suites, comparison variants and stored
replays use them.
"""

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import ConfigDict, StrictBool

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Strict
from timemachine.recording.answering.pure.prompt import check_template
from timemachine.recording.timeline.pure.filter import parse

NEEDS_REASON: Final = "An audit needs a reason. Say in one sentence why you are running it."
ReplayKind = Literal["audit", "debug", "trial", "continue"]
CONTINUE: Final = "continue"
UserMessages = Literal["agreed", "recorded", "none"]
Mode = Literal["hybrid", "semantic", "lexical"]
MODES: Final[tuple[Mode, ...]] = ("hybrid", "semantic", "lexical")
LIMITS: Final[Mapping[str, tuple[int, int]]] = {
    "temperature": (0, 2),
    "max_tokens": (1, 1_000_000),
    "seed": (0, 2**63 - 1),
    "spend_limit_usd": (0, 1_000_000),
    "sample": (1, 1_000_000),
    "max_calls": (1, 1_000),
    "top_k": (1, 1_000),
    "pool": (1, 1_000),
    "relative": (0, 1),
    "cliff": (0, 1),
}
"""The smallest and largest value of each numeric option."""
MOST_FRAMES: Final = 1_000
LONGEST_QUESTION: Final = 100_000


class Options(Strict):
    """Options that are compared, hashed and stored. None means "as recorded"."""

    model_config = ConfigDict(frozen=True)

    def as_json(self) -> dict[str, object]:
        """Return the options as they are stored, without defaults."""
        return self.model_dump(exclude_defaults=True)


class RetrievalOptions(Options):
    """How passages are retrieved.

    `relative`, `cliff` and `min_score` are thresholds of an adaptive cut-off; `min_score` also works without
    one. `pool` is how many of the best passages it looks at: 100 if `adaptive` is chosen, whatever top-k was
    recorded. `as_of` uses the collection as it is now, or as it was at the step.
    """

    top_k: int | None = None
    search_mode: str | None = None
    adaptive: StrictBool | None = None
    pool: int | None = None
    relative: float | None = None
    cliff: float | None = None
    min_score: float | None = None
    embedding_model: str | None = None
    as_of: Literal["now", "recorded"] | None = None

    @property
    def repeats_retrieval(self) -> bool:
        """Return whether an option makes a trial search again; `as_of` alone does not."""
        return any(getattr(self, name) is not None for name in RETRIEVAL_OPTIONS if name != "as_of")


class CallOptions(Options):
    """What the model receives along with the question. `prompt_template` is a text with `{passages}` and `{question}`."""

    system_prompt: str | None = None
    prompt_template: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None


class StepOptions(RetrievalOptions, CallOptions):
    """What can change in a single step, and the reason for the change."""

    reason: str | None = None


class SessionOptions(StepOptions):
    """The options of a replay that fit any session: what a suite stores.

    `audit` uses the frozen context; without it retrieval runs again. `only` is a filter as the timeline takes it: steps
    that fit are replayed, and for any other step that fits the model call that led to it. `sample` is how many of the
    steps at most are replayed, always the same ones of a session. `spend_limit_usd` stops before the next call.
    """

    audit: StrictBool = False
    skip_asks: StrictBool = False
    skip_finds: StrictBool = False
    skip_calls: StrictBool = False
    only: str | None = None
    sample: int | None = None
    spend_limit_usd: float | None = None

    @property
    def kind(self) -> str:
        """`audit`, `debug` or `trial`."""
        return "audit" if self.audit else "debug"

    def with_model(self, model: str | None) -> "ReplayOptions":
        """The options of a replay with this model; None: with the models that were recorded."""
        return ReplayOptions(**dict(self) | {"use_model": model})


class TrialOptions(StepOptions):
    """The options of the trial of a step: the model, the question, and the passages in order, by number or recorded name."""

    use_model: str | None = None
    question: str | None = None
    frames: tuple[int | str, ...] | None = None


class ContinuationOptions(Options):
    """The options of a continuation only: the model call that it continues, and when it stops.

    `messages` are sent instead of the recorded ones, in any form that recordings have. A result of one of the
    `repeatable_tools` can be used more than once. `user_messages` is when the run gets what the user wrote next: after an
    answer that agrees with the recorded one (None: the default), after any answer at the same place, or never.
    """

    continue_from: int | None = None
    messages: list[JsonObject] | None = None
    max_calls: int | None = None
    repeatable_tools: tuple[str, ...] | None = None
    user_messages: UserMessages | None = None


class ReplayOptions(SessionOptions, TrialOptions, ContinuationOptions):
    """The options of one replay; `use_model` is a resolved name.

    Steps after `through_sequence` and up to `after_sequence` (a checkpoint's) are left out. With `step`, the
    replay is a trial of that step alone, with its frozen context; only a trial can change `question` and
    `frames`. With `continue_from`, it continues that model call.
    """

    after_sequence: int | None = None
    through_sequence: int | None = None
    step: int | None = None

    @property
    def kind(self) -> str:
        """Return `audit`, `debug`, `trial` or `continue`."""
        if self.continue_from is not None:
            return CONTINUE
        return super().kind if self.step is None else "trial"


RETRIEVAL_OPTIONS: Final = tuple(RetrievalOptions.model_fields)
CALL_OPTIONS: Final = tuple(CallOptions.model_fields)


def check(options: ReplayOptions) -> None:
    """Raise `InvalidInput` for an option that is invalid or conflicts with others. The reason is checked separately."""
    if options.use_model is not None and not options.use_model.strip():
        raise InvalidInput(
            "The model's name is empty. Name one, for example openai:gpt-4o, or leave it out.",
            code="invalid_field",
            field="use_models",
        )
    _check_trial(options)
    if options.audit:
        _check_audit(options)
    _check_values(options)
    if options.skip_asks and options.skip_finds and options.skip_calls:
        raise InvalidInput(
            "With asks, finds and model calls left out, there is nothing to replay. Leave out fewer of them.",
            code="nothing_to_replay",
            field="skip_finds",
        )


def check_reason(reason: str | None) -> None:
    """Raise `InvalidInput` if there is no reason. To launch an audit or a comparison it is needed, but not to estimate it."""
    if not (reason or "").strip():
        raise InvalidInput(NEEDS_REASON, code="reason_needed", field="reason")


def _check_trial(options: ReplayOptions) -> None:
    changes = (options.question, options.frames)
    if options.step is None:
        if changes != (None, None):
            raise _no_trial("`question` and `frames` can be changed only in the trial of one step")
        return
    if options.audit:
        raise _no_trial("A trial cannot be an audit; leave `audit` out")
    if options.frames is not None:
        _check_frames(options, options.frames)
    if options.question is not None and not 0 < len(options.question.strip()) <= LONGEST_QUESTION:
        raise _invalid("question", f"must have 1 to {LONGEST_QUESTION:,} characters")


def _check_frames(options: ReplayOptions, frames: tuple[int | str, ...]) -> None:
    if options.repeats_retrieval:
        raise InvalidInput(
            "Either name the passages with `frames` or retrieve them again. Leave one of the two out.",
            code="passages_or_retrieval",
            field="frames",
        )
    numbered = all(isinstance(each, str) or 0 <= each < 2**62 for each in frames)
    if len(frames) > MOST_FRAMES or len(set(frames)) < len(frames) or not numbered:
        raise _invalid("frames", f"must name at most {MOST_FRAMES:,} passages, each once, by number or name")


def _no_trial(why: str) -> InvalidInput:
    return InvalidInput(f"{why}.", code="not_a_trial")


def _check_audit(options: ReplayOptions) -> None:
    given = [name for name in RETRIEVAL_OPTIONS if getattr(options, name) is not None]
    if given:
        raise InvalidInput(
            f"An audit uses the recorded context, so {_listed(given)} cannot be used; "
            "leave it out, or launch a debug replay.",
            code="retrieval_options_in_audit",
            options=given,
        )
    changed = [name for name in CALL_OPTIONS if getattr(options, name) is not None]
    if changed and options.use_model is None:
        raise InvalidInput(
            f"Without a model an audit calls nothing, so {_listed(changed)} would have no effect. Choose a model.",
            code="model_needed",
            options=changed,
        )


def _check_values(options: ReplayOptions) -> None:
    if options.prompt_template is not None:
        check_template(options.prompt_template)
    for name, (least, most) in LIMITS.items():
        value = getattr(options, name)
        if value is not None and not least <= value <= most:
            raise _invalid(name, f"must be between {least} and {most:,}")
    if options.only is not None:
        parse(options.only)
    if options.search_mode is not None and options.search_mode not in MODES:
        raise _invalid("search_mode", f"must be one of {', '.join(MODES)}")
    if options.embedding_model is not None and options.search_mode == "lexical":
        raise _invalid("embedding_model", "cannot be used with `lexical`, which uses no embedding model")
    if options.adaptive is False and (options.pool, options.relative, options.cliff) != (None, None, None):
        raise _invalid("adaptive", "is off, but `pool`, `relative` and `cliff` belong to an adaptive cut-off")


def _invalid(name: str, says: str) -> InvalidInput:
    return InvalidInput(f"`{name}` {says}.", code="invalid_field", field=name)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
