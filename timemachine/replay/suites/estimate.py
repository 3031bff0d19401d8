"""The estimated cost of a suite run launched now, for each model, at current prices."""

from collections.abc import Sequence

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.estimate import Estimate, estimate_replays
from timemachine.replay.suites.models import Suite
from timemachine.replay.suites.plan import SuitePlan, checked, models_to_ask
from timemachine.replay.suites.queries import plan_of, sessions_matched, sessions_to_run


def estimates(project: Project, plan: SuitePlan) -> list[Estimate]:
    """Return an estimate for each model of the plan, over its sessions and those that match now. Raises what `commands.create` raises."""
    plan = checked(project, plan)
    matched = [] if plan.matching is None else sessions_matched(project, plan.matching)
    sessions = {each.id: each for each in [*(plan.sessions or ()), *matched]}
    return _estimated(list(sessions.values()), plan)


def estimates_of(suite: Suite) -> list[Estimate]:
    """Return an estimate for each model of the suite as it is now. Raises `InvalidInput` and `Unavailable`."""
    plan = plan_of(suite)
    sessions = [each for _, each in sessions_to_run(suite) if each is not None]
    return _estimated(sessions, plan)


def _estimated(sessions: Sequence[Session], plan: SuitePlan) -> list[Estimate]:
    return estimate_replays(
        sessions, [plan.options.with_model(each) for each in models_to_ask(plan.use_models)]
    )
