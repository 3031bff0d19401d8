"""What a comparison would cost before it starts: for each arm, the recorded tokens at today's prices, for all its runs."""

from dataclasses import replace

from timemachine.comparison.commands import Plan
from timemachine.replay.estimate import Estimate, estimated
from timemachine.replay.options import ReplayOptions


def estimates(plan: Plan) -> list[Estimate]:
    """An estimate for each arm of a checked plan, in their order; `asks` counts every run."""
    every_ask = ReplayOptions(audit=True, skip_finds=True)
    runs = len(plan.runs)
    return [
        replace(once, asks=once.asks * runs, cost_usd=once.cost_usd * runs, unknown=once.unknown * runs)
        for once in estimated(plan.sessions, every_ask, [arm.model for arm in plan.arms])
    ]
