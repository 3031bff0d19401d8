"""What it would cost to let a model judge a comparison, before it is asked. An estimate: four characters are taken for a token."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.pure.usage import estimate_tokens
from timemachine.replay.comparison.judge_calls import MATERIAL, TOKENS_OF_AN_OPINION, call_cost, prompts_of
from timemachine.replay.comparison.judged_cells import cells_left
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs import frozen
from timemachine.replay.runs.models import ReplayStep

_READ_TOGETHER: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEstimate:
    """About so many tokens for two calls a cell, and US dollars; `cost_usd` is None where the model's price is unknown."""

    model: str
    cells: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal | None


def judge_estimate(comparison: Comparison, use_model: str, step: int | None = None) -> JudgeEstimate:
    """About what it costs to ask this model about every cell that it would be asked about now. Raises as `ask_judge` does."""
    model, left = cells_left(comparison, use_model, step)
    read = [estimate_tokens(each) for each in _sent([cell.id for cell in left])]
    costs = [call_cost(model, tokens) for tokens in read]
    known = [each for each in costs if each is not None]
    return JudgeEstimate(
        model=str(model),
        cells=len(left),
        calls=len(read),
        input_tokens=sum(read),
        output_tokens=TOKENS_OF_AN_OPINION * len(read),
        cost_usd=sum(known, Decimal(0)) if len(known) == len(costs) else None,
    )


def _sent(step_ids: Sequence[int]) -> Iterator[int]:
    """How many characters each call would send; a cell without a text that a judge reads is not asked about."""
    for at in range(0, len(step_ids), _READ_TOGETHER):
        ids = step_ids[at : at + _READ_TOGETHER]
        steps = ReplayStep.objects.filter(id__in=ids).select_related(*MATERIAL)
        frozen.read_hits([step.action for step in steps])
        for step in steps:
            yield from _characters(step)


def _characters(step: ReplayStep) -> list[int]:
    try:
        prompts = prompts_of(step)
    except InvalidInput:
        return []
    return [sum(len(message.content) for message in prompt.messages) for _, prompt in prompts]
