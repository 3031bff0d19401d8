"""Suites, their runs and what changed, as the JSON documents of the contract."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from timemachine.core.pure.clock import written
from timemachine.core.pure.formatting import counted, money, priced, reached
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES
from timemachine.replay.runs.pure.summary import failure_json, most_failed
from timemachine.replay.suites.models import Suite, SuiteEvent, SuiteReplay, SuiteRun
from timemachine.replay.suites.pure.changes import StepChange, StepFact, counted_change
from timemachine.replay.suites.queries import RunCounts, named_in, over_limit


def suite_json(suite: Suite, latest: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A suite: what it replays and when; `latest` is its latest run's document."""
    named = named_in(suite)
    return {
        "id": str(suite.id),
        "name": suite.name,
        "kind": suite.kind,
        "sessions": [
            {"id": str(each.session.id), "key": each.key, "name": each.session.name}
            for each in named
            if each.session is not None
        ],
        "missing": [each.key for each in named if each.session is None],
        "matching": suite.matching,
        "use_models": suite.use_models,
        "options": suite.options,
        "fail_on": suite.fail_on,
        "schedule": suite.schedule,
        "next_run_at": written(suite.next_run_at),
        "problem": suite.problem,
        "created_by": suite.created_by,
        "created_at": written(suite.created_at),
        "latest_run": latest,
    }


def run_json(run: SuiteRun, counts: RunCounts) -> dict[str, Any]:
    """A run: how far it is, what it came to; `since` counts what changed since the previous run, null where there is none."""
    return {
        "id": str(run.id),
        "suite": str(run.suite_id),
        "number": run.number,
        "kind": run.kind,
        "status": run.status,
        "requested_by": run.requested_by,
        "cancelled_by": run.cancelled_by,
        "due_at": written(run.due_at),
        "created_at": written(run.created_at),
        "finished_at": written(run.finished_at),
        "use_models": run.use_models,
        "options": run.options,
        "fail_on": run.fail_on,
        "previous": run.previous.number if run.previous else None,
        **counts_json(counts),
        "over_limit_usd": None if (over := over_limit(run, counts)) is None else float(over),
        "since": run.findings["counts"] if run.findings else None,
        "cost_since": _since(run, "cost"),
        "took_since": _since(run, "took"),
        "held": run.held,
        "summary": summary(run, counts),
    }


def counts_json(counts: RunCounts) -> dict[str, Any]:
    """The counts of a run, named as those of a replay."""
    contexts = ("verified", "altered", "missing", "not_recorded")
    return {
        "replays": dict(counts.replays),
        "left_out": counts.left_out,
        "steps": {
            "total": counts.total,
            **{name: counts.steps.get(name, 0) for name in TERMINAL_STEP_STATUSES},
        },
        "context": {name: counts.contexts.get(name, 0) for name in contexts},
        "retrieval": dict(counts.retrievals),
        "verdicts": dict(counts.verdicts),
        "cost_usd": float(counts.cost_usd),
        "unknown_cost_calls": counts.unknown_cost_calls,
        "uncertain_calls": counts.uncertain_calls,
        "most_frequent_error": failure_json(counts.failure),
    }


def summary(run: SuiteRun, counts: RunCounts) -> str:
    """The run in one sentence: its steps, what changed since which run, what it cost."""
    names = {"failed": "failed", "skipped": "not asked", "cancelled": "cancelled"}
    others = {what: counts.steps.get(status, 0) for status, what in names.items()}
    parts = [reached(counts.steps.get("done", 0), counted(counts.total, "step"), others)]
    if counts.left_out:
        parts.append(f"{counted(counts.left_out, 'replay')} left out")
    if run.finished_at is not None:
        parts.append(_since_words(run))
    parts.append(priced(counts.cost_usd, counts.unknown_cost_calls))
    if over := over_limit(run, counts):
        parts.append(
            f"the spend limit of {money(run.options['spend_limit_usd'])} was passed by {money(over)}"
        )
    parts.append(most_failed(counts.failure, counts.steps.get("failed", 0)))
    return "; ".join(part for part in parts if part)


def change_json(change: StepChange, names: Mapping[str, str]) -> dict[str, Any]:
    """A step of the run beside the same step of the run before; `names` are the keys of the sessions by their ids."""
    step = change.step
    return {
        "change": change.change,
        "session": str(step.session),
        "session_key": names.get(str(step.session)),
        "model": step.model,
        "sequence": step.sequence,
        "kind": step.kind,
        "label": step.label,
        "before": _fact_json(change.before),
        "after": _fact_json(change.after),
        "cost_change_usd": change.cost_change,
        "took_change_ms": change.took_change,
    }


def member_json(member: SuiteReplay) -> dict[str, Any]:
    """One session with one model in a run: its replay, or why there is none."""
    return {
        "session": None if member.session_id is None else str(member.session_id),
        "session_key": member.key,
        "arm": member.arm,
        "replay_id": None if member.replay_id is None else str(member.replay_id),
        "status": member.replay.status if member.replay else None,
        "problem": {"code": member.problem_code, "message": member.problem} if member.problem_code else None,
    }


def event_json(event: SuiteEvent) -> dict[str, Any]:
    """Something that was done to a suite."""
    return {"what": event.what, "by": event.by, "at": written(event.at), "facts": event.facts}


def _fact_json(fact: StepFact | None) -> dict[str, Any] | None:
    if fact is None:
        return None
    apart = ("session", "arm", "sequence", "kind", "label", "replay", "id")
    facts = {name: value for name, value in asdict(fact).items() if name not in apart}
    return facts | {"replay_id": str(fact.replay), "step": f"/replays/{fact.replay}/steps/{fact.sequence}/"}


def _since(run: SuiteRun, figure: str) -> dict[str, Any] | None:
    return run.findings[figure] if run.findings else None


def _since_words(run: SuiteRun) -> str:
    if run.findings is None or run.previous is None:
        return f"no earlier {run.kind} run to compare with"
    changed = {name: number for name, number in run.findings["counts"].items() if name != "same"}
    told = ", ".join(counted_change(name, number) for name, number in changed.items()) or "nothing changed"
    return f"since run {run.previous.number}: {told}"
