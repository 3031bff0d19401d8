"""What a run of a suite would cost if it were launched now: for each model, the recorded tokens at today's prices."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from timemachine.accounts.models import Project
from timemachine.recording.models import Session
from timemachine.replay.estimate import Estimate, estimated
from timemachine.suites.models import Suite
from timemachine.suites.plan import SuitePlan, arms_of, checked
from timemachine.suites.queries import plan_of, sessions_matched, sessions_to_run


def estimates(project: Project, plan: SuitePlan) -> list[Estimate]:
    """An estimate for each model of the plan over its sessions and those that match now. Raises as `commands.create` does."""
    plan = checked(project, plan)
    matched = [] if plan.matching is None else sessions_matched(project, plan.matching)
    sessions = {each.id: each for each in [*(plan.sessions or ()), *matched]}
    return _estimates(plan, list(sessions.values()))


def estimates_of(suite: Suite) -> list[Estimate]:
    """An estimate for each model of the suite as it is now. Raises `InvalidInput` and `Unavailable`."""
    return _estimates(plan_of(suite), [each for _, each in sessions_to_run(suite) if each is not None])


def _estimates(plan: SuitePlan, sessions: Sequence[Session]) -> list[Estimate]:
    asked = (replace(plan.options, use_model=model) for model in arms_of(plan.use_models))
    return [
        _together(options.use_model, (estimated(session, options) for session in sessions))
        for options in asked
    ]


def _together(model: str | None, found: Iterable[Estimate]) -> Estimate:
    each = list(found)
    return Estimate(
        model=model,
        asks=sum(one.asks for one in each),
        cost_usd=sum((one.cost_usd for one in each), Decimal(0)),
        unknown=sum(one.unknown for one in each),
        guessed=sum(one.guessed for one in each),
    )
