"""The progress of comparisons: of their replays, steps and judges, and the cost so far."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import CharField, Count, Max, Q, StringAgg, Sum, Value
from django.db.models.functions import MD5, Cast, Concat

from timemachine.core.pure.clock import now
from timemachine.core.pure.numbers import progress
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.runs.costs import NO_SPENDING, spending_by
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.pure.statuses import TERMINAL_REPLAY_STATUSES, TERMINAL_STEP_STATUSES
from timemachine.replay.runs.tallies import counts_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How many calls wait because their model is busy, when the last of them is tried again, and one provider's message."""

    calls: int = 0
    until: datetime | None = None
    because: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """How many cells judges were or will be asked about, and the cost. A cell counts once, however often it is judged.

    `waiting` cells are queued; `asking` ones are being judged; `busy` ones are tried again later. The newest judge of a `failed`
    cell gave no verdict, `because` of the most recent such error. `revision`
    changes with every judge verdict, and when a judge starts or stops waiting. A call that was lost with its
    worker counts as one of unknown cost.
    """

    cells: int = 0
    waiting: int = 0
    asking: int = 0
    busy: Waits = Waits()
    failed: int = 0
    because: str | None = None
    revision: str = ""
    cost_usd: Decimal = Decimal(0)
    unknown_cost_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a comparison. `status` is `queued`, `running`, `done`, `failed` (every replay failed) or `cancelled`.

    `answered` counts the existing answers. `uncertain_calls` are attempts that were lost when a call was
    about to be made; they may have been billed. `revision` changes whenever a page would look different,
    `cells` only when an answer or its cost changes.
    """

    status: str
    replays: Mapping[str, int]
    steps: Mapping[str, int]
    answered: int
    cost_usd: Decimal
    unknown_cost_calls: int
    uncertain_calls: int
    judges: Judges
    waits: Waits
    cells: str
    revision: str

    @property
    def all_finished(self) -> bool:
        return self.status in TERMINAL_REPLAY_STATUSES

    @property
    def settled(self) -> bool:
        """Return whether every replay has finished and no judge is waiting or running."""
        return self.all_finished and not self.judges.waiting and not self.judges.asking

    @property
    def total(self) -> int:
        """Return how many answers are requested."""
        return sum(self.steps.values())

    @property
    def finished(self) -> int:
        """Return how many of them are finished, with any result."""
        return sum(number for status, number in self.steps.items() if status in TERMINAL_STEP_STATUSES)

    @property
    def unanswered(self) -> dict[str, int]:
        """Return for each reason how many finished steps have no answer."""
        failed, cancelled = self.steps.get("failed", 0), self.steps.get("cancelled", 0)
        not_asked = self.finished - self.answered - failed - cancelled
        return {"failed": failed, "not asked": not_asked, "cancelled": cancelled}

    @property
    def words(self) -> str:
        """Return for example `58 of 72 answered, 14 not asked`."""
        return progress(self.answered, f"{self.total:,} answered", self.unanswered)


def progress_of(comparisons: Sequence[Comparison]) -> dict[UUID, Progress]:
    """Return the progress of each comparison. Seven queries for any number of them."""
    ids = [each.id for each in comparisons]
    of_them = Replay.objects.filter(run__comparison__in=ids)
    replays, steps = counts_by("run__comparison_id", "status", of_them), _steps(ids)
    attempts = ReplayAttempt.objects.filter(step__replay__run__comparison__in=ids)
    spent = spending_by("step__replay__run__comparison_id", attempts)
    judges, waits, worked = _judges(ids), _waits(ids), _worked(ids)
    marks = CellMark.objects.filter(comparison__in=ids).order_by().values_list("comparison_id")
    last_marks = dict(marks.annotate(last=Max("id")))
    found = {}
    for each in ids:
        of_steps, of_attempts = steps.get(each, _Steps()), spent.get(each, NO_SPENDING)
        of_judges = judges.get(each, Judges())
        found[each] = Progress(
            status=_status(replays.get(each, {})),
            replays=replays.get(each, {}),
            steps=of_steps.statuses,
            answered=of_steps.answered,
            cost_usd=of_attempts.cost_usd,
            unknown_cost_calls=of_attempts.unknown_calls,
            uncertain_calls=of_attempts.uncertain_calls,
            judges=of_judges,
            waits=waits.get(each, Waits()),
            cells="-".join(f"{one.finished}.{_moment(one.last)}" for one in (of_steps, of_attempts)),
            revision=f"{worked.get(each, '')}-{last_marks.get(each, 0)}-{of_judges.revision}",
        )
    return found


def over_limit(comparison: Comparison, progress: Progress) -> Decimal | None:
    """Return by how much the spend limit was exceeded, judges included; None without a limit."""
    if comparison.spend_limit_usd is None:
        return None
    spent = progress.cost_usd + progress.judges.cost_usd
    return max(spent - Decimal(str(comparison.spend_limit_usd)), Decimal(0))


@dataclass(slots=True, kw_only=True)
class _Steps:
    """The steps by status, how many are answered and finished, and when the last one finished."""

    statuses: dict[str, int] = field(default_factory=dict)
    answered: int = 0
    finished: int = 0
    last: datetime | None = None


def _steps(ids: Sequence[UUID]) -> dict[UUID, _Steps]:
    owner, found = "replay__run__comparison_id", defaultdict[UUID, _Steps](_Steps)
    rows = ReplayStep.objects.filter(replay__run__comparison__in=ids).order_by().values(owner, "status")
    answered = Count("id", filter=Q(status="done", evidence__not_asked__isnull=True))
    counted = rows.annotate(
        number=Count("id"), answered=answered, finished=Count("finished_at"), last=Max("finished_at")
    )
    for row in counted:
        steps = found[row[owner]]
        steps.statuses[row["status"]] = row["number"]
        steps.answered += row["answered"]
        steps.finished += row["finished"]
        steps.last = max(filter(None, (steps.last, row["last"])), default=None)
    return found


def _waits(ids: Sequence[UUID]) -> dict[UUID, Waits]:
    owner = "replay__run__comparison_id"
    waiting = ReplayStep.objects.filter(
        replay__run__comparison__in=ids, status="running", asked_again_at__gt=now()
    )
    rows = waiting.order_by().values(owner)
    counted = rows.annotate(calls=Count("id"), until=Max("asked_again_at"), because=Max("waits_because"))
    return {
        row[owner]: Waits(calls=row["calls"], until=row["until"], because=row["because"]) for row in counted
    }


def _judges(ids: Sequence[UUID]) -> dict[UUID, Judges]:
    failed = _failed_judges(ids)
    busy = Q(state="asking", asked_again_at__gt=now())
    rows = (
        CellOpinion.objects.filter(comparison__in=ids)
        .order_by()
        .values("comparison_id")
        .annotate(
            cells=Count("step", distinct=True, filter=~Q(state="cancelled")),
            waiting=Count("step", distinct=True, filter=Q(state="waiting")),
            asking=Count("step", distinct=True, filter=Q(state="asking")),
            busy=Count("id", filter=busy),
            until=Max("asked_again_at", filter=busy),
            because=Max("waits_because", filter=busy),
            opinions=Count("id"),
            asked=Count("asked_at"),
            finished=Count("finished_at"),
            cost=Sum("cost_usd"),
            unknown=Sum("unknown_cost_calls"),
        )
    )
    return {
        row["comparison_id"]: Judges(
            cells=row["cells"],
            waiting=row["waiting"],
            asking=row["asking"],
            busy=Waits(calls=row["busy"], until=row["until"], because=row["because"]),
            failed=len(failed.get(row["comparison_id"], ())),
            because=next(iter(failed.get(row["comparison_id"], ())), None),
            revision=f"{row['opinions']}.{row['asked']}.{row['finished']}.{_moment(row['until'])}",
            cost_usd=row["cost"] or Decimal(0),
            unknown_cost_calls=row["unknown"],
        )
        for row in rows
    }


def _failed_judges(ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    """Return for each comparison the errors of the cells whose newest judge failed, the most recent first. One query."""
    newest = CellOpinion.objects.filter(comparison__in=ids).exclude(state="cancelled")
    newest = newest.order_by("step", "-created_at", "-id").distinct("step")
    rows = CellOpinion.objects.filter(id__in=newest.values("id"), state__in=("failed", "lost")).order_by(
        "-finished_at"
    )
    found: dict[UUID, list[str]] = {}
    for comparison, message in rows.values_list("comparison_id", "error_message"):
        found.setdefault(comparison, []).append(message or "")
    return found


def _worked(ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return a text for each comparison that changes with any work on its replays, and when one of them is erased."""
    counted = Concat(
        Cast("runs__replay_id", CharField()), Value(":"), Cast("runs__replay__revision", CharField())
    )
    digest = MD5(StringAgg(counted, delimiter=Value(","), order_by="runs__replay_id"))
    rows = Comparison.objects.filter(id__in=ids).order_by().annotate(worked=digest)
    return {row.id: row.worked or "" for row in rows}


def _moment(at: datetime | None) -> str:
    return "" if at is None else f"{at.timestamp() * 1e6:.0f}"


def _status(replays: Mapping[str, int]) -> str:
    if replays.get("running") or (replays.get("queued") and len(replays) > 1):
        return "running"
    if replays.get("queued"):
        return "queued"
    if replays.get("cancelled"):
        return "cancelled"
    return "done" if replays.get("done") else "failed"
