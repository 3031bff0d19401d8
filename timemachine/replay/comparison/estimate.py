"""The estimated cost of a comparison and of judging it, at current prices. Four characters count as one token."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.pure.usage import estimate_tokens
from timemachine.replay.comparison.commands import Plan
from timemachine.replay.comparison.judge_calls import MATERIAL, TOKENS_OF_AN_OPINION, call_cost, prompts_of
from timemachine.replay.comparison.judged_cells import remaining_cells
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs import frozen
from timemachine.replay.runs.estimate import Estimate, estimate_replays
from timemachine.replay.runs.models import ReplayStep


def estimates(plan: Plan) -> list[Estimate]:
    """Return an estimate for each variant of a checked plan, in order. The numbers cover all runs."""
    options = [arm.options(reason=plan.reason or "", spend_limit_usd=None) for arm in plan.arms]
    runs = len(plan.runs)
    return [
        replace(once, asks=once.asks * runs, cost_usd=once.cost_usd * runs, unknown=once.unknown * runs)
        for once in estimate_replays(plan.sessions, options)
    ]


_READ_TOGETHER: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEstimate:
    """The estimated tokens of two calls for each cell, and the cost in US dollars; None if the price is unknown."""

    model: str
    cells: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal | None


def judge_estimate(comparison: Comparison, use_model: str, step: int | None = None) -> JudgeEstimate:
    """Return the estimated cost of asking this model about every remaining cell. Raises what `ask_judge` raises."""
    model, cells = remaining_cells(comparison, use_model, step)
    read = [estimate_tokens(each) for each in _sent([cell.id for cell in cells])]
    costs = [call_cost(model, tokens) for tokens in read]
    known = [each for each in costs if each is not None]
    return JudgeEstimate(
        model=str(model),
        cells=len(cells),
        calls=len(read),
        input_tokens=sum(read),
        output_tokens=TOKENS_OF_AN_OPINION * len(read),
        cost_usd=sum(known, Decimal(0)) if len(known) == len(costs) else None,
    )


def _sent(step_ids: Sequence[int]) -> Iterator[int]:
    """Yield the number of characters of each call. Cells without texts to judge are skipped."""
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
