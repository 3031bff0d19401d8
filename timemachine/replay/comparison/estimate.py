"""The estimated cost of a comparison and of judging it, at current prices. Four characters count as one token."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import batched
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.replay.comparison.commands import Plan
from timemachine.replay.comparison.judge_calls import MATERIAL, TOKENS_OF_AN_OPINION, call_cost, prompts_of
from timemachine.replay.comparison.judge_queue import remaining_cells
from timemachine.replay.comparison.judge_schemas import JudgeEstimateOut
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs import estimate, frozen
from timemachine.replay.runs.estimate import tokens_of
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.schemas import EstimateOut

_READ_TOGETHER: Final = 50


def estimates(plan: Plan) -> list[EstimateOut]:
    """Return an estimate for each variant of a checked plan, in order. The numbers cover all runs."""
    return estimate.estimate_replays(plan.sessions, _options(plan), runs=len(plan.runs))


def quick_estimates(plan: Plan) -> tuple[list[EstimateOut], int]:
    """Return what `estimates` returns, and of how many steps one was read for it."""
    return estimate.quick_estimates(plan.sessions, _options(plan), runs=len(plan.runs))


def _options(plan: Plan) -> list[ReplayOptions]:
    return [arm.options(reason=plan.reason, spend_limit_usd=None) for arm in plan.arms]


def judge_estimate(comparison: Comparison, use_model: str, step: int | None = None) -> JudgeEstimateOut:
    """Return the estimated cost of asking this model twice about every remaining cell. Raises what `ask_judge` raises."""
    model, cells = remaining_cells(comparison, use_model, step)
    read = list(_call_tokens([cell.id for cell in cells]))
    costs = [call_cost(model, tokens) for tokens in read]
    known = [each for each in costs if each is not None]
    return JudgeEstimateOut.model_construct(
        model=str(model),
        cells=len(cells),
        calls=len(read),
        input_tokens=sum(read),
        output_tokens=TOKENS_OF_AN_OPINION * len(read),
        cost_usd=float(sum(known, Decimal(0))) if len(known) == len(costs) else None,
        basis=f"four characters to a token, {TOKENS_OF_AN_OPINION} tokens of answer to a call, today's prices",
    )


def _call_tokens(step_ids: Sequence[int]) -> Iterator[int]:
    """Yield the estimated tokens that each call reads. Cells without texts to judge are skipped."""
    for ids in batched(step_ids, _READ_TOGETHER):
        steps = ReplayStep.objects.filter(id__in=ids).select_related(*MATERIAL)
        frozen.read_hits([step.action for step in steps])
        for step in steps:
            with suppress(InvalidInput):
                yield from [tokens_of(prompt) for _, prompt in prompts_of(step)]
