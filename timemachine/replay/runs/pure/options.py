"""What a replay is asked to do, and what does not go together. Pure.

The one definition of these options: requests, suites, the arms of comparisons and what is stored are made of these classes.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import ConfigDict

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.schemas import Strict
from timemachine.recording.answering.pure.prompt import check_template

MODES: Final = ("hybrid", "semantic", "lexical")
LIMITS: Final[Mapping[str, tuple[int, int]]] = {
    "temperature": (0, 2),
    "max_tokens": (1, 1_000_000),
    "seed": (0, 2**63 - 1),
    "spend_limit_usd": (0, 1_000_000),
    "top_k": (1, 1_000),
    "relative": (0, 1),
    "cliff": (0, 1),
}
"""The smallest and the largest value of each option that is a number."""
MOST_FRAMES: Final = 1_000
LONGEST_QUESTION: Final = 100_000


class Options(Strict):
    """Options that are compared, hashed and stored. None means "as it was recorded"."""

    model_config = ConfigDict(frozen=True)

    def as_json(self) -> dict[str, Any]:
        """The options as they are stored: without those that have their default."""
        return self.model_dump(exclude_defaults=True)


class RetrievalOptions(Options):
    """How passages are looked for.

    `relative`, `cliff` and `min_score` are the thresholds of an adaptive cut-off, `min_score` alone a floor of any. `as_of` is
    the collection as it is now, or as it was at the step.
    """

    top_k: int | None = None
    search_mode: str | None = None
    adaptive: bool | None = None
    relative: float | None = None
    cliff: float | None = None
    min_score: float | None = None
    embedding_model: str | None = None
    as_of: Literal["now", "recorded"] | None = None

    @property
    def looks_again(self) -> bool:
        """Whether an option says how passages are looked for; `as_of` alone does not say that they are."""
        return any(getattr(self, name) is not None for name in RETRIEVAL_OPTIONS if name != "as_of")


class CallOptions(Options):
    """What the model gets along with the question. `prompt_template` is a text with `{passages}` and `{question}`."""

    system_prompt: str | None = None
    prompt_template: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None


class StepOptions(RetrievalOptions, CallOptions):
    """What can change at a single step, and why it is changed."""

    reason: str | None = None


class SessionOptions(StepOptions):
    """The options of a replay that fit any session: what a suite stores.

    `audit` uses the frozen context; without it retrieval runs again. `spend_limit_usd` stops before the next call.
    """

    audit: bool = False
    skip_asks: bool = False
    skip_finds: bool = False
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


class ReplayOptions(SessionOptions, TrialOptions):
    """The options of one replay; `use_model` is a resolved name.

    Steps after `through_sequence` and up to `after_sequence` (a checkpoint's) are left out. `step` makes it the trial of that
    step alone, over its frozen context; only in a trial can `question` and `frames` change.
    """

    after_sequence: int | None = None
    through_sequence: int | None = None
    step: int | None = None

    @property
    def kind(self) -> str:
        """`audit`, `debug` or `trial`."""
        return super().kind if self.step is None else "trial"


RETRIEVAL_OPTIONS: Final = tuple(RetrievalOptions.model_fields)
CALL_OPTIONS: Final = tuple(CallOptions.model_fields)


def check(options: ReplayOptions) -> None:
    """Raise `InvalidInput` that names the option that cannot be, or does not go with the others."""
    if options.use_model is not None and not options.use_model.strip():
        raise InvalidInput(
            "The model's name is empty; name one like openai:gpt-4o, or leave it out.",
            code="invalid_field",
            field="use_models",
        )
    _check_trial(options)
    if options.audit:
        _check_audit(options)
    _check_values(options)
    if options.skip_asks and options.skip_finds:
        raise InvalidInput(
            "With asks and finds both left out nothing is left to replay; leave out only one of them.",
            code="nothing_to_replay",
            field="skip_finds",
        )


def _check_trial(options: ReplayOptions) -> None:
    changes = (options.question, options.frames)
    if options.step is None:
        if changes != (None, None):
            raise _no_trial("`question` and `frames` can be changed in the trial of one step only")
        return
    if options.audit:
        raise _no_trial("A trial is no audit; leave `audit` out")
    if options.frames is not None:
        _check_frames(options, options.frames)
    if options.question is not None and not 0 < len(options.question.strip()) <= LONGEST_QUESTION:
        raise _invalid("question", f"has 1 to {LONGEST_QUESTION:,} characters")


def _check_frames(options: ReplayOptions, frames: tuple[int | str, ...]) -> None:
    if options.looks_again:
        raise InvalidInput(
            "Either `frames` names the passages or they are looked for again; leave one of the two out.",
            code="passages_or_retrieval",
            field="frames",
        )
    numbered = all(isinstance(each, str) or 0 <= each < 2**62 for each in frames)
    if len(frames) > MOST_FRAMES or len(set(frames)) < len(frames) or not numbered:
        raise _invalid("frames", f"names at most {MOST_FRAMES:,} passages, each once, by number or name")


def _no_trial(why: str) -> InvalidInput:
    return InvalidInput(f"{why}.", code="not_a_trial")


def _check_audit(options: ReplayOptions) -> None:
    given = [name for name in RETRIEVAL_OPTIONS if getattr(options, name) is not None]
    if given:
        raise InvalidInput(
            f"An audit uses the frozen context of the recording, so {_listed(given)} cannot go with it; "
            "leave it out, or launch a debug replay.",
            code="retrieval_options_in_audit",
            options=given,
        )
    if not (options.reason or "").strip():
        raise InvalidInput(
            "An audit needs a reason; say in a sentence why it is made.", code="reason_needed", field="reason"
        )
    changed = [name for name in CALL_OPTIONS if getattr(options, name) is not None]
    if changed and options.use_model is None:
        raise InvalidInput(
            f"Without a model an audit calls nothing, so {_listed(changed)} would have no effect; choose a model.",
            code="model_needed",
            options=changed,
        )


def _check_values(options: ReplayOptions) -> None:
    if options.prompt_template is not None:
        check_template(options.prompt_template)
    for name, (least, most) in LIMITS.items():
        value = getattr(options, name)
        if value is not None and not least <= value <= most:
            raise _invalid(name, f"must lie between {least} and {most:,}")
    if options.search_mode is not None and options.search_mode not in MODES:
        raise _invalid("search_mode", f"is one of {', '.join(MODES)}")
    if options.embedding_model is not None and options.search_mode == "lexical":
        raise _invalid("embedding_model", "does not go with `lexical`, which uses none")
    if options.adaptive is False and (options.relative, options.cliff) != (None, None):
        raise _invalid("adaptive", "is off, and `relative` and `cliff` are thresholds of an adaptive cut-off")


def _invalid(name: str, says: str) -> InvalidInput:
    return InvalidInput(f"`{name}` {says}.", code="invalid_field", field=name)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
