"""A run of a suite in one sentence."""

from timemachine.core.pure.numbers import counted, money, progress, total_cost
from timemachine.replay.runs.pure.summary import most_failed
from timemachine.replay.suites.models import SuiteRun
from timemachine.replay.suites.pure.changes import counted_change
from timemachine.replay.suites.queries import RunCounts, over_limit


def summary(run: SuiteRun, counts: RunCounts) -> str:
    """The run in one sentence: its steps, what changed since which run, what it cost."""
    names = {"failed": "failed", "skipped": "not asked", "cancelled": "cancelled"}
    others = {what: counts.steps.get(status, 0) for status, what in names.items()}
    parts = [progress(counts.steps.get("done", 0), counted(counts.total, "step"), others)]
    if counts.left_out:
        parts.append(f"{counted(counts.left_out, 'replay')} left out")
    if run.finished_at is not None:
        parts.append(_since_words(run))
    parts.append(total_cost(counts.cost_usd, counts.unknown_cost_calls))
    if over := over_limit(run, counts):
        parts.append(
            f"the spend limit of {money(run.options['spend_limit_usd'])} was passed by {money(over)}"
        )
    parts.append(most_failed(counts.failure, counts.steps.get("failed", 0)))
    return "; ".join(part for part in parts if part)


def _since_words(run: SuiteRun) -> str:
    if run.findings is None or run.previous is None:
        return f"no earlier {run.kind} run to compare with"
    changed = {name: number for name, number in run.findings["counts"].items() if name != "same"}
    told = ", ".join(counted_change(name, number) for name, number in changed.items()) or "nothing changed"
    return f"since run {run.previous.number}: {told}"
