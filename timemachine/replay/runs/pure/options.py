"""What a replay is asked to do, and what does not go together. Pure."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.answering.pure.prompt import check_template

RETRIEVAL_OPTIONS = (
    "top_k",
    "search_mode",
    "adaptive",
    "relative",
    "cliff",
    "min_score",
    "embedding_model",
    "as_of",
)
CALL_OPTIONS = ("system_prompt", "prompt_template", "temperature", "seed", "max_tokens")
MODES = ("hybrid", "semantic", "lexical")
LARGEST_TOP_K = 1_000
MOST_FRAMES = 1_000
LONGEST_QUESTION = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """The options of one replay. None means "as it was recorded"; `use_model` is a resolved name.

    `audit` is over the frozen context; otherwise retrieval runs again (`as_of`: "now" or "recorded"). `relative`, `cliff` and
    `min_score` are the thresholds of an adaptive cut-off, `min_score` alone a floor of any. Steps after
    `through_sequence` and up to `after_sequence` (a checkpoint's) are left out. `spend_limit_usd` stops before the next call.
    `prompt_template` is a text with `{passages}` and `{question}`. `step` makes it the trial of that step alone, over its frozen
    context, in which the `question` and the passages can be changed: `frames` names them in order, by number or recorded name.
    """

    audit: bool = False
    reason: str | None = None
    use_model: str | None = None
    system_prompt: str | None = None
    prompt_template: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    top_k: int | None = None
    search_mode: str | None = None
    adaptive: bool | None = None
    min_score: float | None = None
    relative: float | None = None
    cliff: float | None = None
    embedding_model: str | None = None
    as_of: Literal["now", "recorded"] | None = None
    skip_asks: bool = False
    skip_finds: bool = False
    after_sequence: int | None = None
    through_sequence: int | None = None
    spend_limit_usd: float | None = None
    step: int | None = None
    question: str | None = None
    frames: tuple[int | str, ...] | None = None

    @property
    def kind(self) -> str:
        """`audit`, `debug` or `trial`."""
        if self.step is not None:
            return "trial"
        return "audit" if self.audit else "debug"

    @property
    def looks_again(self) -> bool:
        """Whether an option says how passages are looked for; `as_of` alone does not say that they are."""
        return any(getattr(self, name) is not None for name in RETRIEVAL_OPTIONS if name != "as_of")


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
    _check_calls(options)
    _check_retrieval(options)
    if options.skip_asks and options.skip_finds:
        raise InvalidInput(
            "With asks and finds both left out nothing is left to replay; leave out only one of them.",
            code="nothing_to_replay",
            field="skip_finds",
        )


def as_json(options: ReplayOptions) -> dict[str, Any]:
    """The options as they are kept, defaults left out."""
    defaults = {field.name: field.default for field in fields(options)}
    return {name: value for name, value in asdict(options).items() if value != defaults[name]}


def from_json(kept: dict[str, Any]) -> ReplayOptions:
    """The options that `as_json` kept."""
    frames = kept.get("frames")
    return ReplayOptions(**kept | ({} if frames is None else {"frames": tuple(frames)}))


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


def _check_calls(options: ReplayOptions) -> None:
    if options.prompt_template is not None:
        check_template(options.prompt_template)
    _check_range("temperature", options.temperature, 0, 2)
    _check_range("max_tokens", options.max_tokens, 1, 1_000_000)
    _check_range("seed", options.seed, 0, 2**63 - 1)
    _check_range("spend_limit_usd", options.spend_limit_usd, 0, 1_000_000)


def _check_retrieval(options: ReplayOptions) -> None:
    _check_range("top_k", options.top_k, 1, LARGEST_TOP_K)
    if options.search_mode is not None and options.search_mode not in MODES:
        raise _invalid("search_mode", f"is one of {', '.join(MODES)}")
    if options.embedding_model is not None and options.search_mode == "lexical":
        raise _invalid("embedding_model", "does not go with `lexical`, which uses none")
    _check_range("relative", options.relative, 0, 1)
    _check_range("cliff", options.cliff, 0, 1)
    if options.adaptive is False and (options.relative, options.cliff) != (None, None):
        raise _invalid("adaptive", "is off, and `relative` and `cliff` are thresholds of an adaptive cut-off")
    if options.as_of is not None and options.as_of not in ("now", "recorded"):
        raise _invalid("as_of", "is `now` or `recorded`")


def _check_range(name: str, value: float | None, least: float, most: float) -> None:
    if value is not None and not least <= value <= most:
        raise _invalid(name, f"must lie between {least} and {most:,}")


def _invalid(name: str, says: str) -> InvalidInput:
    return InvalidInput(f"`{name}` {says}.", code="invalid_field", field=name)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
