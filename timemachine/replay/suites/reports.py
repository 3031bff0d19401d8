"""What changed in a run, step by step: compared and kept when it is over, and read page by page."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import transaction
from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When

from timemachine.replay.runs.models import ReplayHit, ReplayStep
from timemachine.replay.suites.models import SuiteRun, SuiteStep
from timemachine.replay.suites.plan import arms_of
from timemachine.replay.suites.pure.changes import CHANGES, StepChange, StepFact, changes, paired_arms

BATCH: Final = 2_000
_STEP: Final = (
    "id",
    "replay_id",
    "sequence",
    "kind",
    "status",
    "verdict",
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
    """Some steps of a report, and the place of the last of them where more follow."""

    steps: Sequence[StepChange]
    next: Place | None


@transaction.atomic
def keep(run: SuiteRun, found: Sequence[StepChange]) -> None:
    """Write the report of a run that is over, in the place of an earlier one."""
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
    # of two that write the same report at once, one is enough
    SuiteStep.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)


def counted_changes(run: SuiteRun) -> Mapping[str, int]:
    """How many steps of the run are which kind of change; none while it goes."""
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
    """Some steps of the run beside the same steps of the run before, in the order of the recording; none while the run goes.

    What is read are the steps of that page alone. `kinds` of change are asked for, None for all.
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
    """The rows of the report; one of before reports were kept is written now."""
    rows = SuiteStep.objects.filter(run=run)
    if run.finished_at is not None and not rows.exists():
        keep(run, changes_of(run))
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
    """Every step of the run beside the same step of the run before; without one every step is new."""
    after = facts_of(run)
    previous = run.previous
    if previous is None:
        return changes([], after, {})
    arms = paired_arms(arms_of(previous.use_models), arms_of(run.use_models))
    return changes(facts_of(previous), after, arms)


def facts_of(run: SuiteRun) -> list[StepFact]:
    """What each step of the run came to, session by session, model by model, in the order of the recording. Two queries at most."""
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
    """A hash of the passages that each step found, in their order."""
    hits = ReplayHit.objects.filter(step__in=steps.order_by().values("id")).order_by()
    rows = hits.values("step_id").annotate(found=ArrayAgg(F("sha256"), order_by="rank"))
    return {
        row["step_id"]: sha256(" ".join(str(each) for each in row["found"]).encode()).hexdigest()
        for row in rows
    }
