"""What the `prices` of a step say beside unit prices: that the sender stated the cost, or why it is unknown."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from timemachine.core.pure.numbers import counted

STATED: Final[Mapping[str, Any]] = {"source": "stated"}
"""The `prices` of a call whose sender stated the cost, and not how it was computed."""
NO_REASON: Final = "not_recorded"
"""Stands for the reason of calls that were recorded without one."""
REASONS: Final[Mapping[str, str]] = {
    "model_not_recorded": "no model was recorded",
    "model_and_tokens_not_recorded": "no model and no tokens were recorded",
    "provider_not_recorded": "the recording does not say which provider billed the call",
    "provider_not_listed": "the price list does not include this provider",
    "model_not_listed": "the price list does not include this model",
    "tokens_not_recorded": "the input or output tokens were not recorded",
    "tokens_contradict": "the recorded token counts contradict each other",
    "not_priced_by_token": "the price list has no price for these tokens",
    "condition_not_listed": "no price is known under these conditions",
    "call_failed": "the call failed and may have been billed",
    "prices_unreadable": "the operator's prices could not be read",
    NO_REASON: "no reason was recorded",
}
"""Each reason, and what it means."""


def reason_of(prices: Any) -> str | None:
    """Return the reason that the `prices` of a step state. None if the cost is known or no reason was recorded."""
    if isinstance(prices, dict) and prices.get("source") == "unknown":
        reason = prices.get("reason")
        return reason if isinstance(reason, str) else None
    return None


def reason_words(reason: str, about: object = None) -> str:
    """Return a reason in words, and what it is about. A reason that is not known here is shown as it is."""
    words = REASONS.get(reason, reason)
    return f"{words}: {about}" if isinstance(about, str) and about else words


def by_frequency(reasons: Iterable[tuple[str | None, int]]) -> dict[str, int]:
    """Return the number of calls for each reason, the most frequent first. None stands for no reason. Numbers below zero
    take back what others count.
    """
    calls: dict[str, int] = {}
    for reason, number in reasons:
        calls[reason or NO_REASON] = calls.get(reason or NO_REASON, 0) + number
    counted = ((reason, number) for reason, number in calls.items() if number > 0)
    return dict(sorted(counted, key=lambda item: (-item[1], item[0])))


def reasons_in_words(reasons: Mapping[str, int]) -> str:
    """Return the reasons with their numbers of calls: `2 calls: no model was recorded; 1 call: …`."""
    return "; ".join(f"{counted(calls, 'call')}: {reason_words(reason)}" for reason, calls in reasons.items())
