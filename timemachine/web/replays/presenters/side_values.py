"""Model, tokens, cost, duration and grounding of a replayed step next to the recorded ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.pure.numbers import UNKNOWN, money
from timemachine.web.formatting import ABSENT, duration


@dataclass(frozen=True, slots=True, kw_only=True)
class SideValue:
    """One value of both sides as text. `differs` is False if there is no new value, or if it is the same."""

    title: str
    recorded: str
    new: str
    differs: bool


_ALWAYS: Final = ("Model",)


def side_values(
    recorded: Any, new: Any, recorded_ms: float | None, *, with_grounding: bool
) -> list[SideValue]:
    """Return the values that are shown: those that differ, and the model. `recorded` is the step, `new` its replay.

    Without a new model call there is nothing to compare, so the recorded values stand alone.
    """
    called = new.model is not None
    found = [
        SideValue(
            title=title,
            recorded=before,
            new=after if called else "",
            differs=called and before != after and {before, after} != {ABSENT, UNKNOWN},
        )
        for title, before, after in _values(recorded, new, recorded_ms)
        if title != "Grounding" or with_grounding
    ]
    return [each for each in found if each.differs or not called or each.title in _ALWAYS]


def _values(recorded: Any, new: Any, recorded_ms: float | None) -> Iterator[tuple[str, str, str]]:
    yield "Model", recorded.model or ABSENT, new.model or UNKNOWN
    yield "Tokens", _tokens(recorded, ABSENT), _tokens(new, UNKNOWN)
    yield "Cost", _money(recorded), _money(new)
    yield "Call duration", _duration(recorded_ms, ABSENT), _duration(new.duration_ms, UNKNOWN)
    yield "Grounding", _grounding(recorded.grounding, ABSENT), _grounding(new.grounding, UNKNOWN)


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
