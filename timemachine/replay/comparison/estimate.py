"""What a comparison would cost before it starts: for each arm, what its calls would send at today's prices, for all its runs."""

from dataclasses import replace

from timemachine.replay.comparison.commands import Plan
from timemachine.replay.runs.estimate import Estimate, estimated


def estimates(plan: Plan) -> list[Estimate]:
    """An estimate for each arm of a checked plan, in their order; `asks` counts every run."""
    asked = [arm.options(reason=plan.reason or "", spend_limit_usd=None) for arm in plan.arms]
    runs = len(plan.runs)
    return [
        replace(once, asks=once.asks * runs, cost_usd=once.cost_usd * runs, unknown=once.unknown * runs)
        for once in estimated(plan.sessions, asked)
    ]
