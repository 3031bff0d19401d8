"""The result of pricing a call: its cost and the unit prices used, or the reason why the cost is unknown."""

from dataclasses import dataclass
from decimal import Decimal

from timemachine.core.pure.json_types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """The exact cost in US dollars and where it comes from. The cost is None if it is unknown.

    `prices` is JSON. Its `source` is `override`, `genai-prices`, `local`, or `unknown`; steps can also have `stated`,
    if their sender stated the cost.

    If the cost is known, it has `at` (the time of the prices) and `per_million_tokens` (those known of `input`,
    `output`, `cache_read`, `cache_write`, `cache_write_1h`, `reasoning`, and of sound `input_audio` and `output_audio`, in
    US dollars). From the list it also has the `version`, and `provider` and `model` as listed; if prices depend on the
    input, `tiers` (the input tokens above which each begins) and `tier` (the one of the call); if the usage stated
    conditions, `conditions` (in words), the `factor` that all token prices are multiplied with unless it is 1, and
    `per_thousand_web_searches`. From an override it has the `sha256` of the file, its `entry`, and `from` and `note` if
    given.

    If the cost is unknown, it has the `reason` (a key of `core.pure.unknown_prices.REASONS`), and, if that helps,
    `about`: the names of the conditions that no price is known for. It repeats nothing that the sender wrote, so that an
    erasure of the step's fields leaves nothing here. None if a call was not sent or not accepted.
    """

    cost_usd: Decimal | None
    prices: JsonObject | None


def unknown(reason: str, about: str | None = None) -> Priced:
    """Return an unknown cost with its reason."""
    named = {"about": about} if about else {}
    return Priced(cost_usd=None, prices={"source": "unknown", "reason": reason, **named})
