"""Model, tokens, cost, duration and grounding of a replayed step next to the recorded ones, or of two compared steps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.pure.numbers import UNKNOWN, money
from timemachine.replay.alignment.details import StepDetail
from timemachine.web.formatting import ABSENT, duration


@dataclass(frozen=True, slots=True, kw_only=True)
class SideValue:
    """One value of both sides as text, with the `key` of what it is. `differs` is False if there is no new value, or if it is the same."""

    key: str
    title: str
    recorded: str
    new: str
    differs: bool


MODEL, TOOL, TOKENS, COST, TOOK, GROUNDING = "model", "tool", "tokens", "cost", "took", "grounding"
_ALWAYS_SHOWN: Final = (MODEL, TOOL)
_TITLES: Final = {
    MODEL: "Model",
    TOOL: "Tool",
    TOKENS: "Tokens",
    COST: "Cost",
    TOOK: "Call duration",
    GROUNDING: "Grounding",
}


def side_values(
    recorded: Any, new: Any, recorded_ms: float | None, *, with_grounding: bool
) -> list[SideValue]:
    """Return the values that are shown: those that differ, and the model. `recorded` is the step, `new` its replay.

    Without a new model call there is nothing to compare, so the recorded values stand alone.
    """
    called = new.model is not None
    values = _values(recorded, new, recorded_ms, (ABSENT, UNKNOWN))
    found = [
        SideValue(
            key=key,
            title=_TITLES[key],
            recorded=before,
            new=after if called else "",
            differs=called and _differ(before, after),
        )
        for key, before, after in values
        if key != GROUNDING or with_grounding
    ]
    return [each for each in found if each.differs or not called or each.key in _ALWAYS_SHOWN]


def compared_values(left: StepDetail, right: StepDetail) -> list[SideValue]:
    """Return the values that differ, and the model and tool if there is one. What a session lacks is not recorded, what a replay lacks is unknown."""
    absent = (UNKNOWN if left.run.replay else ABSENT, UNKNOWN if right.run.replay else ABSENT)
    found = [
        SideValue(
            key=key,
            title="Duration" if key == TOOK else _TITLES[key],
            recorded=before,
            new=after,
            differs=_differ(before, after),
        )
        for key, before, after in (
            (TOOL, left.tool or absent[0], right.tool or absent[1]),
            *_values(left, right, left.duration_ms, absent),
        )
    ]
    return [
        each for each in found if each.differs or (each.key in _ALWAYS_SHOWN and each.recorded not in absent)
    ]


def _differ(before: str, after: str) -> bool:
    return before != after and {before, after} != {ABSENT, UNKNOWN}


def _values(
    recorded: Any, new: Any, recorded_ms: float | None, absent: tuple[str, str]
) -> Iterator[tuple[str, str, str]]:
    before, after = absent
    yield MODEL, recorded.model or before, new.model or after
    yield TOKENS, _tokens(recorded, before), _tokens(new, after)
    yield COST, _money(recorded), _money(new)
    yield TOOK, _duration(recorded_ms, before), _duration(new.duration_ms, after)
    yield GROUNDING, _grounding(recorded.grounding, before), _grounding(new.grounding, after)


def _tokens(side: Any, absent: str) -> str:
    if side.input_tokens is None and side.output_tokens is None:
        return absent
    given, made = (
        absent if number is None else f"{number:,}" for number in (side.input_tokens, side.output_tokens)
    )
    return f"{given} in, {made} out"


def _money(side: Any) -> str:
    return UNKNOWN if side.cost_usd is None else money(side.cost_usd)


def _duration(milliseconds: float | None, absent: str) -> str:
    return absent if milliseconds is None else duration(milliseconds)


def _grounding(found: Any, absent: str) -> str:
    """Return the label and the score; a recorded grounding can have any form."""
    if not isinstance(found, dict) or not found.get("label"):
        return absent
    score = found.get("score")
    return f"{found['label']} {score:.2f}" if isinstance(score, int | float) else str(found["label"])
