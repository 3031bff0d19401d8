"""Queries for a project's comparisons: replays and sessions, asks with every answer, ratings and judge verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.database import row_of
from timemachine.core.payloads.queries import text, value
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.model_steps import ModelSteps
from timemachine.core.pure.numbers import sum_known
from timemachine.core.pure.verdicts import numbers_change
from timemachine.llm.pure.completion import is_refused, is_refused_by
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.recording.model_calls.pure.requests import PARAMETERS
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL, MODEL_CALLS
from timemachine.recording.sessions.queries import UNKNOWN_COST
from timemachine.recording.usage.queries import reasons_in
from timemachine.replay.comparison.models import (
    WITHDRAWN,
    CellMark,
    CellOpinion,
    Comparison,
    ComparisonReplay,
)
from timemachine.replay.comparison.pure.cells import ERROR, NOT_ASKED, NOT_RECORDED, SPEND_LIMIT, Ask, Cell
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.runs import frozen
from timemachine.replay.runs.answer_lines import AnswerLines, answer_lines
from timemachine.replay.runs.costs import spending_by
from timemachine.replay.runs.costs import unknown_reasons as reasons_of_attempts
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.pure.statuses import OPEN_STEP_STATUSES
from timemachine.replay.runs.pure.written_calls import written_answer
from timemachine.replay.runs.queries import VERDICT, verdict_words
from timemachine.text.pure.language.refusal import is_refusal

_STEP: Final = (
    "id",
    "replay_id",
    "sequence",
    "status",
    *VERDICT,
    "action_id",
    "grounding__score",
    "grounding__label",
    "evidence__turned",
    "evidence__both_refuse",
    "evidence__new_refuses",
    "evidence__cut_off",
    "evidence__not_asked",
    "evidence__request__absent",
    "parameters__finish_reason",
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
class AnnotatedAsks:
    """Asks with their questions, and the answers, ratings and judge verdicts by the step of each cell."""

    asks: list[Ask]
    marks: Mapping[int, list[CellMark]]
    opinions: Mapping[int, list[CellOpinion]]
    lines: Mapping[int, AnswerLines] = field(default_factory=dict)


def comparisons_of(project: Project) -> QuerySet[Comparison]:
    """Return the project's comparisons, newest first (a UUIDv7 begins with its time)."""
    return Comparison.objects.filter(project=project).order_by("-id")


def comparison_of(project: Project, comparison_id: str | UUID) -> Comparison:
    """Return the project's comparison with that id. Raises `NotFound`, also for another project's."""
    missing = NotFound(
        f"There is no comparison {str(comparison_id)[:60]!r} in this project.", code="comparison_not_found"
    )
    return row_of(Comparison.objects.filter(project=project), comparison_id, missing)


def variants_of(comparison: Comparison) -> list[Variant]:
    """Return the variants as they were launched."""
    return [Variant(**each) for each in comparison.arms]


def cells_of(comparison: Comparison) -> QuerySet[ReplayStep]:
    """Return the answers of its variants to the recorded asks and model calls."""
    return ReplayStep.objects.filter(replay__run__comparison=comparison, kind__in=MODEL_CALLS)


def replays_of(comparison: Comparison) -> QuerySet[Replay]:
    """Return its replays by session, variant and run."""
    return (
        Replay.objects.filter(run__comparison=comparison)
        .select_related("run", "session")
        .order_by("session__started_at", "session_id", "run__arm", "run__repeat")
    )


def comparison_id_of(replay: Replay) -> UUID | None:
    """Return the id of the comparison that launched the replay, if one did."""
    return ComparisonReplay.objects.filter(replay=replay).values_list("comparison_id", flat=True).first()


def cancelled_of(comparison: Comparison) -> Replay | None:
    """Return the replay that was cancelled last, for the time and the person; None if none was cancelled."""
    cancelled = Replay.objects.filter(run__comparison=comparison, cancel_requested_at__isnull=False)
    return cancelled.order_by("-cancel_requested_at", "id").first()


def unknown_reasons(comparison: Comparison) -> dict[str, int]:
    """Return for each reason why the cost of a call of the variants is unknown the number of these calls. One query."""
    return reasons_of_attempts(ReplayAttempt.objects.filter(step__replay__run__comparison=comparison))


def recorded_reasons(comparison: Comparison) -> dict[str, int]:
    """Return the same for the recorded calls of the asks. One query."""
    asks = ReplayStep.objects.filter(replay__run__comparison=comparison, kind__in=MODEL_CALLS).values(
        "action_id"
    )
    unpriced = Action.objects.filter(Q(output__isnull=False) | UNKNOWN_COST, id__in=asks, cost_usd=None)
    return reasons_in(unpriced.filter(Q(cached=None) | Q(cached=False)))


def sessions_of(comparison: Comparison) -> list[Session]:
    """Return its sessions in the order in which they started."""
    ids = Replay.objects.filter(run__comparison=comparison).values("session_id")
    return list(Session.objects.filter(id__in=ids).order_by("started_at", "id"))


def cell_step(comparison: Comparison, step_id: int) -> ReplayStep:
    """Return the step of a cell with everything that its page shows. Raises `NotFound`."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CellsBeside:
    """The cells around one: `previous` and `next` of the same run, as rows of steps, and `others`, the answers to the same step in other runs."""

    previous: int | None
    next: int | None
    others: Sequence[ReplayStep]


def cells_beside(comparison: Comparison, step: ReplayStep) -> CellsBeside:
    """Return the cells around one. Three queries."""
    cells = cells_of(comparison)
    run = cells.filter(replay=step.replay).order_by("sequence").values_list("id", flat=True)
    same = cells.filter(action=step.action).exclude(id=step.id).select_related("replay__run")
    return CellsBeside(
        previous=run.filter(sequence__lt=step.sequence).last(),
        next=run.filter(sequence__gt=step.sequence).first(),
        others=list(same.order_by("replay__run__arm", "replay__run__repeat")),
    )


def step_at(
    comparison: Comparison, session: Session, sequence: int, *, arm: int, repeat: int = 1
) -> ReplayStep:
    """Return the step of a variant's run at a recorded ask. Raises `NotFound`."""
    found = ReplayStep.objects.filter(
        replay__run__comparison=comparison,
        replay__session=session,
        replay__run__arm=arm,
        replay__run__repeat=repeat,
        sequence=sequence,
    ).values_list("id", flat=True)
    return cell_step(comparison, found.first() or 0)


def asks_of(comparison: Comparison) -> list[Ask]:
    """Return every ask and model call with its answers, by session in recorded order. Four queries for any number of cells."""
    # sorted, because findings are compared with stored ones: their sums and lists follow the order of the answers
    steps = sorted(cells_of(comparison).order_by().values(*_STEP), key=itemgetter("id"))
    runs: dict[int, dict[tuple[int, int], Cell]] = {}
    actions = _actions({step["action_id"] for step in steps})
    recorded, spent = {action.id: _recorded(action) for action in actions}, _spent(comparison)
    for step in steps:
        cell = _cell(step, recorded[step["action_id"]], *spent.get(step["id"], (0.0, 0)))
        runs.setdefault(step["action_id"], {})[cell.arm, cell.repeat] = cell
    return [_ask(action, recorded[action.id], runs[action.id]) for action in actions]


def steps_compared(comparison: Comparison) -> ModelSteps:
    """Return how many asks and model calls it has, answered or not."""
    steps = cells_of(comparison).order_by().values_list("kind", "action_id").distinct()
    return ModelSteps.of(kind for kind, _ in steps)


def with_texts(asks: Sequence[Ask]) -> list[Ask]:
    """Return the asks with their questions, session names and error messages, which stored findings leave out."""
    actions = {action.id: action for action in _actions({ask.action for ask in asks})}
    failed = [cell.step or 0 for ask in asks for cell in ask.runs.values() if cell.missing == ERROR]
    errors = dict(ReplayStep.objects.filter(id__in=failed).values_list("id", "error_message"))
    return [_with_text(ask, actions[ask.action], errors) for ask in asks if ask.action in actions]


def models_of(asks: Sequence[Ask]) -> dict[int, str | None]:
    """Return the recorded model of each ask, by its action; None if none was recorded."""
    return dict(Action.objects.filter(id__in=[ask.action for ask in asks]).values_list("id", "model"))


def answers_of(asks: Sequence[Ask]) -> tuple[dict[int, str], dict[int, str]]:
    """Return the full texts of the answers: the recorded ones by action, the new ones by step. Two queries."""
    actions = Action.objects.filter(id__in=[ask.action for ask in asks]).select_related("output")
    recorded = {each.id: answer for each in actions if (answer := frozen.answer_of(each)) is not None}
    cells = [cell.step for ask in asks for cell in ask.runs.values() if cell.step and not cell.missing]
    steps = ReplayStep.objects.filter(id__in=cells, output__isnull=False).select_related("output")
    return recorded, {each.id: _written(each) for each in steps if each.output}


def _written(step: ReplayStep) -> str:
    """Return the answer of a step as text, that of a model call with the tools that it calls."""
    if step.output is None:
        return ""
    found = read_answer(value(step.output)) if step.kind == MODEL_CALL else None
    return text(step.output) if found is None else written_answer(found)


def marks_of(steps: Sequence[int]) -> dict[int, list[CellMark]]:
    """Return the current ratings of these cells: each person's latest, unless it was withdrawn."""
    latest = (
        CellMark.objects.filter(step__in=steps)
        .order_by("step_id", "marked_by", "-created_at", "-id")
        .distinct("step_id", "marked_by")
    )
    return _by_step([each for each in latest if each.verdict != WITHDRAWN])


def mark_by(step: ReplayStep, who: str) -> CellMark | None:
    """Return this person's current rating of the cell; None if this person gave none or withdrew it."""
    latest = history_of(step).filter(marked_by=who[:254]).first()
    return None if latest is None or latest.verdict == WITHDRAWN else latest


def history_of(step: ReplayStep) -> QuerySet[CellMark]:
    """Return every rating of the cell, the latest first."""
    return CellMark.objects.filter(step=step).order_by("-created_at", "-id")


def opinions_of(steps: Sequence[int]) -> dict[int, list[CellOpinion]]:
    """Return the judge verdicts on these cells: the latest of each model."""
    latest = (
        CellOpinion.objects.filter(step__in=steps)
        .order_by("step_id", "model", "-created_at", "-id")
        .distinct("step_id", "model")
    )
    return _by_step(list(latest))


def annotated(asks: Sequence[Ask]) -> AnnotatedAsks:
    """Return these asks with texts, answers, ratings and judge verdicts. Six queries for any number of them, seven if one failed."""
    steps = [cell.step for ask in asks for cell in ask.runs.values() if cell.step is not None]
    return AnnotatedAsks(
        asks=with_texts(asks),
        marks=marks_of(steps),
        opinions=opinions_of(steps),
        lines=answer_lines(steps_with_answers(steps)),
    )


def steps_with_answers(steps: Sequence[int]) -> list[ReplayStep]:
    """Return these steps of replays with what `answer_lines` reads of them. One query."""
    return list(ReplayStep.objects.filter(id__in=steps).select_related("action"))


def opinion_of(comparison: Comparison, opinion_id: UUID) -> CellOpinion:
    """Return one judge verdict with its prompt. Raises `NotFound`."""
    missing = NotFound("This comparison has no such judge verdict.", code="opinion_not_found")
    opinions = CellOpinion.objects.filter(comparison=comparison).select_related("prompt", "raw")
    return row_of(opinions, opinion_id, missing)


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


def _with_text(ask: Ask, action: Action, errors: Mapping[int, str | None]) -> Ask:
    runs = {at: replace(cell, error=errors.get(cell.step or 0)) for at, cell in ask.runs.items()}
    recorded = replace(ask.recorded, error=action.error_message)
    return _ask(action, recorded, runs)


def _ask(action: Action, recorded: Cell, runs: Mapping[tuple[int, int], Cell]) -> Ask:
    return Ask(
        session=action.session_id,
        session_name=action.session.name,
        sequence=action.sequence,
        action=action.id,
        label=frozen.question_of(action) or action.label,
        recorded=recorded,
        runs=runs,
    )


def _recorded(action: Action) -> Cell:
    answer = frozen.answer_of(action)
    called = (frozen.model_answer_of(action) or Answer()) if action.kind == MODEL_CALL else None
    grounding = action.grounding if isinstance(action.grounding, dict) else {}
    failed = action.error_type is not None or action.error_message is not None
    # an answer without a price, or evidence of a call without an answer
    unpriced = action.has_unknown_cost if answer is None else action.cost_usd is None
    return Cell(
        arm=0,
        missing=ERROR if failed else NOT_RECORDED if answer is None else None,
        refused=answer is not None and (is_refused_by(action.parameters) or is_refusal(answer)),
        called=None if called is None else bool(called.calls),
        grounding=_number(grounding.get("score")),
        label=grounding.get("label") if isinstance(grounding.get("label"), str) else None,
        cost_usd=_number(action.cost_usd),
        latency_ms=frozen.call_ms_of(action.kind, action.parameters, action.duration_ms),
        tokens=_tokens(action.total_tokens, action.input_tokens, action.output_tokens),
        cached=bool(action.cached),
        spent_usd=0.0 if action.cached else _number(action.cost_usd),
        unknown_calls=int(not action.cached and unpriced),
        error=action.error_message,
    )


def _cell(step: Mapping[str, Any], recorded: Cell, spent: float | None, unknown_calls: int) -> Cell:
    return Cell(
        arm=step["replay__run__arm"],
        repeat=step["replay__run__repeat"],
        step=step["id"],
        replay=step["replay_id"],
        status=step["status"],
        verdict=step["verdict"],
        in_words=verdict_words(step),
        numbers=numbers_change(
            step["verdict"], {"turned": step["evidence__turned"], "only_new": step["evidence__only_new"]}
        ),
        missing=_missing(step),
        refused=_refused(step, recorded),
        grounding=_number(step["grounding__score"]),
        label=step["grounding__label"],
        cost_usd=_number(step["cost_usd"]),
        latency_ms=_number(step["duration_ms"]),
        tokens=_tokens(step["total_tokens"], step["input_tokens"], step["output_tokens"]),
        cut_off="new" in (step["evidence__cut_off"] or []),
        called=recorded.called,
        incomplete=bool({*(step["evidence__request__absent"] or ())} - {PARAMETERS}),
        spent_usd=spent,
        unknown_calls=unknown_calls,
        error=step["error_message"],
    )


def _spent(comparison: Comparison) -> dict[int, tuple[float | None, int]]:
    """Return the known cost of the attempts at each step (None if unknown) and the number of calls it leaves out.

    Those are calls of unknown price, and lost ones that may have been billed.
    """
    attempts = ReplayAttempt.objects.filter(step__replay__run__comparison=comparison)
    found = {}
    for step, spent in spending_by("step_id", attempts).items():
        left_out = spent.unknown_calls + spent.uncertain_calls
        found[step] = float(spent.cost_usd) if spent.cost_usd or not left_out else None, left_out
    return found


def _missing(step: Mapping[str, Any]) -> str | None:
    if step["verdict"] == "error" or step["status"] == "failed":
        return ERROR
    if step["status"] in OPEN_STEP_STATUSES:
        return "in progress"
    if step["status"] != "done":
        return SPEND_LIMIT if step["status"] == "skipped" else str(step["status"])
    return NOT_ASKED if step["evidence__not_asked"] else None


def _refused(step: Mapping[str, Any], recorded: Cell) -> bool:
    """Return whether the new answer is a refusal, by its text or its provider; an answer equal to the recorded one is treated like that."""
    same = step["verdict"] in {"identical", "formatting"}
    refuses = step["verdict"] == "refused" or bool(
        step["evidence__both_refuse"] or step["evidence__new_refuses"]
    )
    return refuses or bool(is_refused(step["parameters__finish_reason"])) or (same and recorded.refused)


def _number(found: Any) -> float | None:
    known = isinstance(found, int | float | Decimal) and not isinstance(found, bool)
    return float(found) if known else None


def _tokens(total: int | None, read: int | None, written: int | None) -> int | None:
    return total if total is not None else sum_known(read, written)
