"""What a comparison would cost before it starts: for each arm, the recorded tokens at today's prices, for all its runs."""

from collections.abc import Sequence
from dataclasses import replace

from timemachine.comparison.commands import Plan
from timemachine.providers.queries import usable_model
from timemachine.recording.models import Action
from timemachine.replay.commands import asks_in
from timemachine.replay.estimate import Estimate, estimate


def estimates(plan: Plan) -> list[Estimate]:
    """An estimate for each arm of a checked plan, in their order; `asks` counts every run."""
    found = []
    for arm in plan.arms:
        options = arm.options(reason=plan.reason or "", spend_limit_usd=None)
        asks: Sequence[Action] = [ask for session in plan.sessions for ask in asks_in(session, options)]
        once = estimate(asks, usable_model(plan.sessions[0].project_id, arm.model))
        runs = len(plan.runs)
        found.append(
            replace(once, asks=once.asks * runs, cost_usd=once.cost_usd * runs, unknown=once.unknown * runs)
        )
    return found
