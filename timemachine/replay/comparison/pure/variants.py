"""What is compared: the arms, how often each is asked, and what does not go together. Pure."""

from collections.abc import Sequence
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.replay.runs.pure.options import CALL_OPTIONS, CallOptions, ReplayOptions
from timemachine.replay.runs.pure.options import check as check_options

FEWEST_ARMS, MOST_ARMS = 2, 8
MOST_REPEATS = 20
MOST_REPLAYS = 1_000
# Their rows are made while somebody waits: 1 s for so many on two cores, and 0.3 ms more for each replay.
MOST_ANSWERS = 20_000
RECORDING: Final = 0


class Arm(CallOptions):
    """A model and the options of its calls. `model` is a resolved name once the arm is stored."""

    model: str

    def options(self, *, reason: str, spend_limit_usd: float | None) -> ReplayOptions:
        """The audit replay that this arm is: the asks over their frozen contexts."""
        return ReplayOptions(
            audit=True,
            reason=reason,
            use_model=self.model,
            skip_finds=True,
            spend_limit_usd=spend_limit_usd,
            **self.model_dump(exclude={"model"}),
        )


def names(arms: Sequence[Arm]) -> list[str]:
    """What tells the arms apart in words: the model, and of what else was chosen only what they do not share."""
    return [" · ".join([arm.model, *_apart(arm, arms)]) for arm in arms]


def check_reason(reason: str | None) -> None:
    """Raise `InvalidInput` where a comparison is to be launched without one."""
    if not (reason or "").strip():
        raise InvalidInput(
            "A comparison needs a reason; say in a sentence why it is made.",
            code="reason_needed",
            field="reason",
        )


def check(arms: Sequence[Arm], repeats: int) -> None:
    """Raise `InvalidInput` that names what cannot be compared; whether there is a reason is another question."""
    if not FEWEST_ARMS <= len(arms) <= MOST_ARMS:
        raise InvalidInput(
            f"A comparison has {FEWEST_ARMS} to {MOST_ARMS} arms and you gave {len(arms)}; the recording stands beside them anyway.",
            code="arms_needed",
            field="arms",
        )
    if not 1 <= repeats <= MOST_REPEATS:
        raise InvalidInput(
            f"`repeats` must lie between 1 and {MOST_REPEATS}.", code="invalid_field", field="repeats"
        )
    for arm in arms:
        check_options(arm.options(reason="looked at by check_reason", spend_limit_usd=None))


def check_apart(arms: Sequence[Arm]) -> None:
    """Raise `InvalidInput` where two arms are the same, once their models are resolved."""
    seen: dict[Arm, int] = {}
    for number, arm in enumerate(arms, 1):
        if arm in seen:
            raise InvalidInput(
                f"Arms {seen[arm]} and {number} are the same ({arm.model}). Leave one out; a model is compared with "
                "itself by the noise floor.",
                code="same_arms",
                field="arms",
            )
        seen[arm] = number


def _apart(arm: Arm, arms: Sequence[Arm]) -> list[str]:
    differing = [name for name in CALL_OPTIONS if len({getattr(each, name) for each in arms}) > 1]
    told = [_told(name, getattr(arm, name), arms) for name in differing]
    return [each for each in told if each]


def _told(name: str, value: Any, arms: Sequence[Arm]) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return (
            f"{name.replace('_', ' ')} {value:g}"
            if isinstance(value, float)
            else f"{name.replace('_', ' ')} {value}"
        )
    given = (getattr(each, name) for each in arms)
    texts = list(dict.fromkeys(text for text in given if text is not None))
    return f"{name.replace('_', ' ')} {texts.index(value) + 1}"
