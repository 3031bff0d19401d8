"""What a replay would cost before it starts: recorded tokens at today's prices. An estimate, and it says what it leaves out."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from timemachine.base.clock import now
from timemachine.providers.catalogue import ModelName
from timemachine.providers.completion import TokenUsage
from timemachine.providers.prices import price
from timemachine.recording.models import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """`cost_usd` for the asks whose tokens were recorded and whose price is known; `unknown` counts the other asks.

    `model` is None where each ask goes to the model that it was recorded with.
    """

    model: str | None
    asks: int
    cost_usd: Decimal
    unknown: int


def estimate(asks: Sequence[Action], model: ModelName | None) -> Estimate:
    """The estimated cost of asking these again, of the model or of their own: as many tokens as were recorded then.

    An ask without either is not asked again, and not counted.
    """
    costs = [_cost(asked, ask) for ask in asks if (asked := model or _recorded(ask)) is not None]
    known = [cost for cost in costs if cost is not None]
    return Estimate(
        model=None if model is None else str(model),
        asks=len(costs),
        cost_usd=sum(known, Decimal(0)),
        unknown=len(costs) - len(known),
    )


def _recorded(ask: Action) -> ModelName | None:
    if ask.model is None:
        return None
    provider, _, model = ask.model.partition(":")
    return ModelName(provider=provider, model=model)


def _cost(model: ModelName, ask: Action) -> Decimal | None:
    return price(model, _usage(ask), now()).cost_usd


def _usage(ask: Action) -> TokenUsage:
    """The recorded tokens; an answer from the cache used none, so those of the ask that it was first given to."""
    first = (ask.cached_from or {}).get("usage") or {}
    return TokenUsage(
        input_tokens=first.get("input_tokens") if ask.cached else ask.input_tokens,
        output_tokens=first.get("output_tokens") if ask.cached else ask.output_tokens,
    )
