"""Corrections: events that change what another step counted, because a later file or span states it differently.

A recorded step never changes. So a correction has the difference in tokens and dollars, also below zero, and `prices` as they
are with it; in `prices`, the object `correction` has the change of the number of calls of unknown cost (`unknown_calls`: -1, 0
or 1) and, if the cost was unknown, the `reason`. A correction counts for the day, agent and model of its step, and is itself no step.
"""

from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.unknown_prices import reason_of
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import is_unknown_cost

CORRECTION: Final = "correction"
UNKNOWN_CALLS: Final = "unknown_calls"
REASON: Final = "reason"
_NO_USAGE: Final = Usage()


def is_correction(kind: str, prices: Any) -> bool:
    """Return whether a step is a correction, from its kind and `prices`."""
    return kind == "event" and isinstance(prices, dict) and CORRECTION in prices


def correction_prices(prices: Mapping[str, Any] | None, *, was: bool, before: Any, now: bool) -> JsonObject:
    """Return the `prices` of a correction.

    Args:
        prices: How the cost of the corrected step is known, or why it is unknown.
        was: Whether its cost was unknown before.
        before: Its `prices` before.
        now: Whether its cost is unknown with the correction.
    """
    change: JsonObject = {UNKNOWN_CALLS: now - was}
    if was and (reason := reason_of(before)) is not None:
        change[REASON] = reason
    return {**(prices or {}), CORRECTION: change}


def unknown_cost_calls(
    kind: str,
    *,
    model: str | None,
    cost_usd: object,
    input_tokens: int | None,
    output_tokens: int | None,
    prices: Any,
) -> int:
    """Return by how much a step changes the number of calls of unknown cost: 1 or 0, or -1 for a correction."""
    if is_correction(kind, prices):
        change = prices[CORRECTION]
        number = change.get(UNKNOWN_CALLS) if isinstance(change, dict) else None
        return number if type(number) is int and number in (-1, 1) else 0
    return int(
        is_unknown_cost(
            kind,
            model=model,
            cost_usd=cost_usd,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            prices=prices,
        )
    )


def has_unknown_cost(draft: ActionDraft) -> bool:
    """Return whether a draft adds a call of unknown cost."""
    usage = draft.usage or _NO_USAGE
    number = unknown_cost_calls(
        draft.kind,
        model=draft.model,
        cost_usd=draft.cost_usd,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        prices=draft.prices,
    )
    return number > 0
