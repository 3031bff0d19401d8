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
    """`cost_usd` for the asks whose tokens were recorded and whose price is known; `unknown` counts the other asks."""

    model: str
    asks: int
    cost_usd: Decimal
    unknown: int


def estimate(model: ModelName, asks: Sequence[Action]) -> Estimate:
    """The estimated cost of asking each of these again with the model: as many tokens as were recorded then."""
    costs = [_cost(model, ask) for ask in asks]
    known = [cost for cost in costs if cost is not None]
    return Estimate(
        model=str(model), asks=len(costs), cost_usd=sum(known, Decimal(0)), unknown=len(costs) - len(known)
    )


def _cost(model: ModelName, ask: Action) -> Decimal | None:
    if ask.input_tokens is None or ask.output_tokens is None:
        return Decimal(0) if model.provider == "local" else None
    usage = TokenUsage(input_tokens=ask.input_tokens, output_tokens=ask.output_tokens)
    return price(model, usage, now()).cost_usd
