"""The variants of a comparison, the number of repeats, and which of them conflict."""

from collections.abc import Sequence
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import spaced
from timemachine.replay.runs.pure.options import CALL_OPTIONS, CallOptions, ReplayOptions
from timemachine.replay.runs.pure.options import check as check_options

FEWEST_ARMS, MOST_ARMS = 2, 8
MOST_REPEATS = 20
MOST_REPLAYS = 1_000
# Their rows are stored during a request: this many take 1 s on two cores, plus 0.3 ms for each replay.
MOST_ANSWERS = 20_000
NEEDS_REASON: Final = "A comparison needs a reason. Say in one sentence why you are running it."
RECORDING: Final = 0


class Variant(CallOptions):
    """A model and the options of its calls. `model` is a resolved name once the variant is stored."""

    model: str

    def options(self, *, reason: str | None, spend_limit_usd: float | None) -> ReplayOptions:
        """Return the options of the audit replay for this variant: the asks over their frozen contexts."""
        return ReplayOptions(
            audit=True,
            reason=reason,
            use_model=self.model,
            skip_finds=True,
            spend_limit_usd=spend_limit_usd,
            **self.model_dump(exclude={"model"}),
        )


def names(arms: Sequence[Variant]) -> list[str]:
    """Return names that distinguish the variants: the model, and the options that they do not share."""
    return [" · ".join([arm.model, *_distinct_options(arm, arms)]) for arm in arms]


def check(arms: Sequence[Variant], repeats: int) -> None:
    """Raise `InvalidInput` for variants or repeats that cannot be compared. The reason is checked separately."""
    if not FEWEST_ARMS <= len(arms) <= MOST_ARMS:
        raise InvalidInput(
            f"A comparison needs {FEWEST_ARMS} to {MOST_ARMS} variants besides the recording{f', not {len(arms)}' if arms else ''}.",
            code="arms_needed",
            field="arms",
        )
    if not 1 <= repeats <= MOST_REPEATS:
        raise InvalidInput(
            f"`repeats` must be between 1 and {MOST_REPEATS}.", code="invalid_field", field="repeats"
        )
    for arm in arms:
        check_options(arm.options(reason=None, spend_limit_usd=None))


def check_distinct(arms: Sequence[Variant]) -> None:
    """Raise `InvalidInput` if two variants with resolved models are the same."""
    seen: dict[Variant, int] = {}
    for number, arm in enumerate(arms, 1):
        if arm in seen:
            raise InvalidInput(
                f"Variants {seen[arm]} and {number} are the same ({arm.model}). Leave one out; the noise floor compares a model "
                "with itself.",
                code="same_arms",
                field="arms",
            )
        seen[arm] = number


def _distinct_options(arm: Variant, arms: Sequence[Variant]) -> list[str]:
    differing = [name for name in CALL_OPTIONS if len({getattr(each, name) for each in arms}) > 1]
    texts = [_option_words(name, getattr(arm, name), arms) for name in differing]
    return [each for each in texts if each]


def _option_words(name: str, value: Any, arms: Sequence[Variant]) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        given = (getattr(each, name) for each in arms)
        texts = list(dict.fromkeys(text for text in given if text is not None))
        value = texts.index(value) + 1
    return f"{spaced(name)} {value:g}" if isinstance(value, float) else f"{spaced(name)} {value}"
