"""Reading comparisons, from the project that asks: how far one is, and its asks with every answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet, Sum

from timemachine.accounts.models import Project
from timemachine.base.errors import NotFound
from timemachine.base.ids import uuid_of
from timemachine.base.numbers import together
from timemachine.comparison.arms import Arm, from_json
from timemachine.comparison.cells import ERROR, NOT_ASKED, NOT_RECORDED, UNDER_WAY, Ask, Cell
from timemachine.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.language.refusal import is_refusal
from timemachine.recording.models import Action, Session
from timemachine.replay import frozen
from timemachine.replay.models import Replay, ReplayAttempt, ReplayStep

OVER: Final = ("done", "failed", "cancelled")
_STEP: Final = (
    "id",
    "replay_id",
    "sequence",
    "status",
    "verdict",
    "action_id",
    "grounding__score",
    "grounding__label",
    "evidence__both_refuse",
    "evidence__cut_off",
    "evidence__not_asked",
    "cost_usd",
    "duration_ms",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "error_message",
    "replay__session_id",
    "replay__run__arm",
    "replay__run__repeat",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """How many cells judges were asked about, how many of them still wait, and what that cost."""

    cells: int = 0
    waiting: int = 0
    cost_usd: Decimal = Decimal(0)
    unknown_cost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a comparison is. `status` is `queued`, `running`, `done`, `failed` (no replay came to anything) or `cancelled`.

    `revision` changes whenever a page would look otherwise.
    """

    status: str
    replays: Mapping[str, int]
    steps: Mapping[str, int]
    cost_usd: Decimal
    unknown_cost_calls: int
    judges: "Judges"
    revision: str

    @property
    def over(self) -> bool:
        """Whether every replay is."""
        return self.status in OVER

    @property
    def settled(self) -> bool:
        """Whether nothing more comes: every replay is over, and no judge is to be asked."""
        return self.over and not self.judges.waiting

    @property
    def total(self) -> int:
        """How many answers are asked for."""
        return sum(self.steps.values())

    @property
    def finished(self) -> int:
        """How many of them are over, in whatever way."""
        return sum(number for status, number in self.steps.items() if status not in UNDER_WAY)


def comparisons_of(project: Project) -> QuerySet[Comparison]:
    """The project's comparisons, newest first (a UUIDv7 begins with its time)."""
    return Comparison.objects.filter(project=project).order_by("-id")


def comparison_of(project: Project, comparison_id: str | UUID) -> Comparison:
    """The project's comparison of that id. Raises `NotFound`, the same for another project's."""
    wanted = uuid_of(str(comparison_id))
    found = Comparison.objects.filter(project=project, id=wanted).first() if wanted else None
    if found is None:
        raise NotFound(
            f"There is no comparison {str(comparison_id)[:60]!r} in this project.",
            code="comparison_not_found",
        )
    return found


def arms_of(comparison: Comparison) -> list[Arm]:
    """The arms as they were launched."""
    return [from_json(each) for each in comparison.arms]


def replays_of(comparison: Comparison) -> QuerySet[Replay]:
    """Its replays, session by session, arm by arm, run by run."""
    return (
        Replay.objects.filter(run__comparison=comparison)
        .select_related("run", "session")
        .order_by("session__started_at", "session_id", "run__arm", "run__repeat")
    )


def sessions_of(comparison: Comparison) -> list[Session]:
    """Its sessions, in the order in which they started."""
    ids = Replay.objects.filter(run__comparison=comparison).values("session_id")
    return list(Session.objects.filter(id__in=ids).order_by("started_at", "id"))


def progress_of(comparisons: Sequence[Comparison]) -> dict[UUID, Progress]:
    """How far each of them is; four queries for any number of them."""
    ids = [each.id for each in comparisons]
    replays = _grouped(Replay.objects.filter(run__comparison__in=ids), "run__comparison_id", "status")
    steps = _grouped(
        ReplayStep.objects.filter(replay__run__comparison__in=ids), "replay__run__comparison_id", "status"
    )
    spent, judges = _spent(ids), _judges(ids)
    said = _said(ids, judges)
    return {
        each.id: _progress(
            replays.get(each.id, {}),
            steps.get(each.id, {}),
            spent.get(each.id),
            judges.get(each.id, Judges()),
            said.get(each.id, ""),
        )
        for each in comparisons
    }


def cell_step(comparison: Comparison, step_id: int) -> ReplayStep:
    """The step behind a cell, with all that its page shows. Raises `NotFound`."""
    found = (
        ReplayStep.objects.filter(replay__run__comparison=comparison, id=step_id)
        .select_related("replay__run", "replay__session", "action__input", "action__output", "output")
        .first()
        if 0 < step_id < 2**62
        else None
    )
    if found is None:
        raise NotFound("This comparison has no such cell.", code="cell_not_found")
    return found


def step_at(
    comparison: Comparison, session: Session, sequence: int, *, arm: int, repeat: int = 1
) -> ReplayStep:
    """The step of an arm's run at a recorded ask. Raises `NotFound`."""
    found = ReplayStep.objects.filter(
        replay__run__comparison=comparison,
        replay__session=session,
        replay__run__arm=arm,
        replay__run__repeat=repeat,
        sequence=sequence,
    ).values_list("id", flat=True)
    return cell_step(comparison, found.first() or 0)


def asks_of(comparison: Comparison) -> list[Ask]:
    """Every ask with its answers, session by session in the order of the recording. Three queries, of any number of cells."""
    steps = list(
        ReplayStep.objects.filter(replay__run__comparison=comparison, kind="ask").order_by().values(*_STEP)
    )
    runs: dict[int, dict[tuple[int, int], Cell]] = {}
    actions = _actions({step["action_id"] for step in steps})
    recorded = {action.id: _recorded(action) for action in actions}
    for step in steps:
        cell = _cell(step, recorded[step["action_id"]])
        runs.setdefault(step["action_id"], {})[cell.arm, cell.repeat] = cell
    return [_ask(action, recorded[action.id], runs[action.id]) for action in actions]


def marks_of(steps: Sequence[int]) -> dict[int, list[CellMark]]:
    """What people say of these cells now: each person's latest mark, unless it was withdrawn."""
    latest = (
        CellMark.objects.filter(step__in=steps)
        .order_by("step_id", "marked_by", "-created_at", "-id")
        .distinct("step_id", "marked_by")
    )
    return _by_step([each for each in latest if each.verdict != "withdrawn"])


def history_of(step: ReplayStep) -> QuerySet[CellMark]:
    """Every mark on the cell, the latest first."""
    return CellMark.objects.filter(step=step).order_by("-created_at", "-id")


def opinions_of(steps: Sequence[int]) -> dict[int, list[CellOpinion]]:
    """What judges say of these cells: the latest opinion of each model."""
    latest = (
        CellOpinion.objects.filter(step__in=steps)
        .order_by("step_id", "model", "-created_at", "-id")
        .distinct("step_id", "model")
    )
    return _by_step(list(latest))


def opinion_of(comparison: Comparison, opinion_id: UUID) -> CellOpinion:
    """One opinion with its prompt. Raises `NotFound`."""
    found = CellOpinion.objects.filter(comparison=comparison, id=opinion_id).select_related("prompt", "raw")
    if (opinion := found.first()) is None:
        raise NotFound("This comparison has no such opinion.", code="opinion_not_found")
    return opinion


def _by_step[Row: (CellMark, CellOpinion)](rows: list[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row.step_id, []).append(row)
    return found


def _actions(ids: set[int]) -> list[Action]:
    return list(
        Action.objects.filter(id__in=ids)
        .select_related("session", "input", "output")
        .order_by("session__started_at", "session_id", "sequence")
    )


def _ask(action: Action, recorded: Cell, runs: Mapping[tuple[int, int], Cell]) -> Ask:
    return Ask(
        session=action.session_id,
        session_name=action.session.name,
        sequence=action.sequence,
        question=frozen.question_of(action) or action.label,
        recorded=recorded,
        runs=runs,
    )


def _recorded(action: Action) -> Cell:
    answer = frozen.answer_of(action)
    grounding = action.grounding if isinstance(action.grounding, dict) else {}
    failed = action.error_type is not None or action.error_message is not None
    return Cell(
        arm=0,
        missing=ERROR if failed else NOT_RECORDED if answer is None else None,
        refused=answer is not None and is_refusal(answer),
        grounding=_number(grounding.get("score")),
        label=grounding.get("label") if isinstance(grounding.get("label"), str) else None,
        cost_usd=_number(action.cost_usd),
        latency_ms=_number((action.parameters or {}).get("call_ms")),
        tokens=_tokens(action.total_tokens, action.input_tokens, action.output_tokens),
        cached=bool(action.cached),
        error=action.error_message,
    )


def _cell(step: Mapping[str, Any], recorded: Cell) -> Cell:
    return Cell(
        arm=step["replay__run__arm"],
        repeat=step["replay__run__repeat"],
        step=step["id"],
        replay=step["replay_id"],
        status=step["status"],
        verdict=step["verdict"],
        missing=_missing(step),
        refused=_refused(step, recorded),
        grounding=_number(step["grounding__score"]),
        label=step["grounding__label"],
        cost_usd=_number(step["cost_usd"]),
        latency_ms=_number(step["duration_ms"]),
        tokens=_tokens(step["total_tokens"], step["input_tokens"], step["output_tokens"]),
        cut_off="new" in (step["evidence__cut_off"] or []),
        error=step["error_message"],
    )


def _missing(step: Mapping[str, Any]) -> str | None:
    if step["verdict"] == "error" or step["status"] == "failed":
        return ERROR
    if step["status"] in UNDER_WAY:
        return "under way"
    if step["status"] != "done":
        return "spend limit" if step["status"] == "skipped" else str(step["status"])
    return NOT_ASKED if step["evidence__not_asked"] else None


def _refused(step: Mapping[str, Any], recorded: Cell) -> bool:
    """Whether the new answer says that it does not answer; one that is the recorded one says what that says."""
    same = step["verdict"] in {"identical", "formatting"}
    return step["verdict"] == "refused" or bool(step["evidence__both_refuse"]) or (same and recorded.refused)


def _number(found: Any) -> float | None:
    known = isinstance(found, int | float | Decimal) and not isinstance(found, bool)
    return float(found) if known else None


def _tokens(total: int | None, read: int | None, written: int | None) -> int | None:
    return total if total is not None else together(read, written)


def _grouped(rows: QuerySet[Any], owner: str, status: str) -> dict[UUID, dict[str, int]]:
    found: dict[UUID, dict[str, int]] = {}
    for row in rows.order_by().values(owner, status).annotate(number=Count("id")):
        found.setdefault(row[owner], {})[row[status]] = row["number"]
    return found


def _spent(ids: Sequence[UUID]) -> dict[UUID, tuple[Decimal, int]]:
    owner = "step__replay__run__comparison_id"
    rows = (
        ReplayAttempt.objects.filter(step__replay__run__comparison__in=ids)
        .order_by()
        .values(owner)
        .annotate(cost=Sum("cost_usd"), unknown=Count("id", filter=Q(calls_made__gt=0, cost_usd=None)))
    )
    return {row[owner]: (row["cost"] or Decimal(0), row["unknown"]) for row in rows}


def _judges(ids: Sequence[UUID]) -> dict[UUID, Judges]:
    rows = (
        CellOpinion.objects.filter(comparison__in=ids)
        .order_by()
        .values("comparison_id")
        .annotate(
            cells=Count("id"),
            waiting=Count("id", filter=Q(finished_at=None)),
            cost=Sum("cost_usd"),
            unknown=Count("id", filter=Q(calls_made__gt=0, cost_usd=None)),
        )
    )
    return {
        row["comparison_id"]: Judges(
            cells=row["cells"],
            waiting=row["waiting"],
            cost_usd=row["cost"] or Decimal(0),
            unknown_cost=row["unknown"],
        )
        for row in rows
    }


def _said(ids: Sequence[UUID], judges: Mapping[UUID, Judges]) -> dict[UUID, str]:
    """What was changed of each comparison, as a text that is another after any change."""
    rows = Comparison.objects.filter(id__in=ids).annotate(worked=Sum("runs__replay__revision"))
    marks, none = dict(_latest(CellMark, ids)), Judges()
    return {
        row.id: f"{row.worked}-{marks.get(row.id, 0)}-{judges.get(row.id, none).cells}.{judges.get(row.id, none).waiting}"
        for row in rows
    }


def _latest(model: type[CellMark], ids: Sequence[UUID]) -> list[tuple[UUID, int]]:
    rows = model.objects.filter(comparison__in=ids).order_by().values("comparison_id")
    return [(row["comparison_id"], row["last"]) for row in rows.annotate(last=Max("id"))]


def _progress(
    replays: Mapping[str, int],
    steps: Mapping[str, int],
    spent: tuple[Decimal, int] | None,
    judges: Judges,
    revision: str,
) -> Progress:
    cost, unknown = spent or (Decimal(0), 0)
    return Progress(
        status=_status(replays),
        replays=replays,
        steps=steps,
        cost_usd=cost,
        unknown_cost_calls=unknown,
        judges=judges,
        revision=revision,
    )


def _status(replays: Mapping[str, int]) -> str:
    if replays.get("running") or (replays.get("queued") and len(replays) > 1):
        return "running"
    if replays.get("queued"):
        return "queued"
    if replays.get("cancelled"):
        return "cancelled"
    return "done" if replays.get("done") else "failed"
