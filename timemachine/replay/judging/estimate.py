"""What a judgement would cost before it is asked. An estimate: four characters are taken for a token."""

from dataclasses import dataclass
from decimal import Decimal

from timemachine.core.pure.clock import now
from timemachine.llm.prices import price_if_known
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.completion import TokenUsage
from timemachine.llm.pure.usage import estimate_tokens
from timemachine.replay.judging.pure.prompt import SYSTEM_PROMPT

FENCE_CHARACTERS = 40
TOKENS_OF_A_VERDICT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """About so many tokens, and US dollars; `cost_usd` is None where the model's price is unknown."""

    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal | None


def estimate(model: ModelName, *, characters: int, passages: int, sentences: int) -> Estimate:
    """About what it costs to judge so many sentences by so many passages, of so many characters with the question."""
    sent = characters + len(SYSTEM_PROMPT) + FENCE_CHARACTERS * (passages + sentences + 1)
    usage = TokenUsage(input_tokens=estimate_tokens(sent), output_tokens=TOKENS_OF_A_VERDICT * sentences)
    return Estimate(
        model=str(model),
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cost_usd=price_if_known(model, usage, now()).cost_usd,
    )
