"""What changed in a run, step by step (compared and stored when it finishes), and its summary."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import transaction
from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When

from timemachine.core.pure.numbers import counted, money, progress, total_cost
from timemachine.core.pure.verdicts import verdict_in_words
from timemachine.replay.runs.models import ReplayHit, ReplayStep
from timemachine.replay.runs.pure.summary import most_failed
from timemachine.replay.runs.queries import VERDICT, verdict_words
from timemachine.replay.suites.models import SuiteRun, SuiteStep
from timemachine.replay.suites.plan import models_to_ask
from timemachine.replay.suites.pure.changes import (
    CHANGES,
    StepChange,
    StepFact,
    changes,
    counted_change,
    paired_models,
)
from timemachine.replay.suites.queries import RunCounts, over_limit

BATCH: Final = 2_000
_STEP: Final = (
    "id",
    "replay_id",
    "sequence",
    "kind",
    "status",
    *VERDICT,
    "context",
    "retrieval__verdict",
    "output__sha256",
    "model",
    "cost_usd",
    "duration_ms",
    "error_message",
    "action__label",
    "replay__session_id",
    "replay__suite_replay__arm",
)
_GRAVITY: Final = Case(
    *(When(change=name, then=Value(number)) for number, name in enumerate(CHANGES)),
    output_field=IntegerField(),
)

type Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPage:
    """Some steps of a report, and the place of the last of them if more follow."""

    steps: Sequence[StepChange]
    next: Place | None


@transaction.atomic
def store(run: SuiteRun, found: Sequence[StepChange]) -> None:
    """Write the report of a finished run, replacing an earlier one."""
    SuiteStep.objects.filter(run=run).delete()
    rows = [
        SuiteStep(
            run=run,
            place=place,
            change=each.change,
            before_id=each.before.id if each.before else None,
            after_id=each.after.id if each.after else None,
        )
        for place, each in enumerate(found, 1)
    ]
    # another process is writing the same report
    SuiteStep.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)


def counted_changes(run: SuiteRun) -> Mapping[str, int]:
    """Return how many steps of the run have which kind of change; none while it is in progress."""
    rows = _report_of(run).order_by().values_list("change").annotate(number=Count("id"))
    return Counter(dict(rows))


def report_page(
    run: SuiteRun,
    *,
    limit: int,
    kinds: Collection[str] | None = None,
    after: Place = (0, 0),
    gravest_first: bool = False,
) -> ReportPage:
    """Return some steps of the run next to those of the previous run, in recorded order; none while it is in progress.

    Only the steps of that page are read. `kinds` selects kinds of change, None for all.
    """
    rows = _report_of(run).annotate(gravity=_GRAVITY if gravest_first else Value(0))
    if kinds is not None:
        rows = rows.filter(change__in=kinds)
    gravity, place = after
    rows = rows.filter(Q(gravity__gt=gravity) | Q(gravity=gravity, place__gt=place))
    found = list(rows.order_by("gravity", "place")[: limit + 1])
    shown = found[:limit]
    last = (shown[-1].gravity, shown[-1].place) if len(found) > limit else None
    return ReportPage(steps=_read(run, shown), next=last)


def _report_of(run: SuiteRun) -> QuerySet[SuiteStep]:
    """Return the rows of the report. If a run has none, it is written now."""
    rows = SuiteStep.objects.filter(run=run)
    if run.finished_at is not None and not rows.exists():
        store(run, changes_of(run))
    return rows if run.finished_at is not None else rows.none()


def _read(run: SuiteRun, rows: Sequence[SuiteStep]) -> list[StepChange]:
    ids = [each for row in rows for each in (row.before_id, row.after_id) if each is not None]
    facts = {each.id: each for each in _facts(run, ReplayStep.objects.filter(id__in=ids))}
    return [
        StepChange(
            change=row.change,
            before=None if row.before_id is None else facts.get(row.before_id),
            after=None if row.after_id is None else facts.get(row.after_id),
        )
        for row in rows
    ]


def changes_of(run: SuiteRun) -> list[StepChange]:
    """Return every step of the run next to the same step of the previous run; without one, every step is new."""
    after = facts_of(run)
    previous = run.previous
    if previous is None:
        return changes([], after, {})
    arms = paired_models(models_to_ask(previous.use_models), models_to_ask(run.use_models))
    return changes(facts_of(previous), after, arms)


def facts_of(run: SuiteRun) -> list[StepFact]:
    """Return the result of each step of the run, by session and model in recorded order. At most two queries."""
    steps = ReplayStep.objects.filter(replay__suite_replay__run=run)
    return _facts(
        run, steps.order_by("replay__suite_replay__position", "replay__suite_replay__arm", "sequence")
    )


def _facts(run: SuiteRun, steps: QuerySet[ReplayStep]) -> list[StepFact]:
    passages = {} if run.kind == "audit" else _passages(steps)
    return [_fact(step, passages.get(step["id"])) for step in steps.values(*_STEP)]


def _fact(step: Mapping[str, Any], passages: str | None) -> StepFact:
    return StepFact(
        id=step["id"],
        session=step["replay__session_id"],
        arm=step["replay__suite_replay__arm"],
        sequence=step["sequence"],
        replay=step["replay_id"],
        kind=step["kind"],
        label=step["action__label"],
        status=step["status"],
        verdict=step["verdict"],
        in_words=verdict_words(step),
        context=step["context"],
        retrieval=step["retrieval__verdict"],
        answer=step["output__sha256"],
        passages=passages,
        model=step["model"],
        cost_usd=None if step["cost_usd"] is None else float(step["cost_usd"]),
        took_ms=step["duration_ms"],
        error=step["error_message"],
    )


def _passages(steps: QuerySet[ReplayStep]) -> dict[int, str]:
    """Return a hash of the passages that each step found, in order."""
    hits = ReplayHit.objects.filter(step__in=steps.order_by().values("id")).order_by()
    rows = hits.values("step_id").annotate(found=ArrayAgg(F("sha256"), order_by="rank"))
    return {
        row["step_id"]: sha256(" ".join(str(each) for each in row["found"]).encode()).hexdigest()
        for row in rows
    }


def summary(run: SuiteRun, counts: RunCounts) -> str:
    """Return the run in one sentence: its steps, what changed since which run, and the cost."""
    since = _since_words(run) if run.finished_at is not None else ""
    return "; ".join(part for part in _totals(run, counts, since) if part)


def totals(run: SuiteRun, counts: RunCounts) -> str:
    """Return the run in one sentence without what changed: its steps and the cost."""
    return "; ".join(part for part in _totals(run, counts, "") if part)


def finding(run: SuiteRun, counts: RunCounts) -> str:
    """Return what a finished run found: the changes since the previous one; without a previous one, the verdicts."""
    if run.findings is not None and run.previous is not None:
        changed = _changes_words(run.findings["counts"])
        return f"{changed[0].upper()}{changed[1:]} since run {run.previous.number}."
    verdicts = [f"{number:,} {verdict_in_words(name)}" for name, number in _results(counts).items()]
    return f"Verdicts: {', '.join(verdicts)}." if verdicts else "No step has a result."


def _results(counts: RunCounts) -> Mapping[str, int]:
    """Return the verdicts with their numbers of steps: on answers, else on passages found again, else on contexts."""
    return counts.verdicts or counts.retrievals or counts.contexts


def _totals(run: SuiteRun, counts: RunCounts, since: str) -> list[str]:
    names = {"failed": "failed", "skipped": "not asked", "cancelled": "cancelled"}
    others = {what: counts.statuses.get(status, 0) for status, what in names.items()}
    parts = [progress(counts.statuses.get("done", 0), counted(counts.total, "step"), others)]
    if counts.left_out:
        parts.append(f"{counted(counts.left_out, 'replay')} left out")
    parts.append(since)
    parts.append(total_cost(counts.cost_usd, counts.unknown_cost_calls))
    if over := over_limit(run, counts):
        parts.append(
            f"the spend limit of {money(run.options['spend_limit_usd'])} was exceeded by {money(over)}"
        )
    parts.append(most_failed(counts.failure, counts.statuses.get("failed", 0)))
    return parts


def _since_words(run: SuiteRun) -> str:
    if run.findings is None or run.previous is None:
        return f"no earlier {run.kind} run to compare with"
    return f"since run {run.previous.number}: {_changes_words(run.findings['counts'])}"


def _changes_words(counts: Mapping[str, int]) -> str:
    changed = {name: number for name, number in counts.items() if name != "same"}
    return ", ".join(counted_change(name, number) for name, number in changed.items()) or "nothing changed"
