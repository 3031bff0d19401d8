"""Judges of cells: which are to be asked, and asking them, each twice with the answers the other way round.

A row is committed as `asking` before its model is called, and never asked again by itself: a worker that is lost may have had a
call billed, and its row then reads `lost`.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet, Sum

from timemachine.answering.prompt import Passage, Prompt
from timemachine.base.clock import now
from timemachine.base.content import content_of
from timemachine.base.errors import Conflict, InvalidInput, TimeMachineError
from timemachine.comparison.judge_prompt import (
    NEW_FIRST,
    RECORDED_FIRST,
    TEMPLATE,
    Said,
    read,
    render,
    together,
)
from timemachine.comparison.models import CellOpinion, Comparison
from timemachine.judging.commands import judge_model
from timemachine.judging.models import LONGEST_CALL
from timemachine.judging.reading import text_of
from timemachine.payloads.commands import keep
from timemachine.payloads.queries import text
from timemachine.providers.calling import complete
from timemachine.providers.catalogue import ModelName
from timemachine.providers.completion import Completion, ModelRequest, TokenUsage
from timemachine.providers.places import let_go
from timemachine.providers.prices import failed_price, price_if_known
from timemachine.providers.queries import connection_of, usable_model
from timemachine.providers.token_estimate import tokens_about
from timemachine.recording.validation import COST_DIGITS
from timemachine.replay import frozen
from timemachine.replay.models import ReplayAttempt, ReplayStep
from timemachine.replay.purse import FREE, Purse

MOST_CELLS: Final = 500
QUIET: Final = timedelta(seconds=60)
LOST_AFTER: Final = 2 * LONGEST_CALL
MATERIAL: Final = ("action__input", "action__output", "output", "replay")
TOKENS_OF_AN_OPINION: Final = 60
NOT_JUDGED: Final = ("identical", "error", "not_recorded")


@dataclass(slots=True, kw_only=True)
class _Asked:
    """What came of the calls for one cell so far."""

    said: list[Said] = field(default_factory=list)
    prompts: list[Any] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    usage: list[dict[str, Any] | None] = field(default_factory=list)
    costs: list[Decimal | None] = field(default_factory=list)
    calls: int = 0


def judged_cells(comparison: Comparison, step: int | None = None) -> list[ReplayStep]:
    """The cells that a judge can be asked about: an answer beside a recorded one, and not the same bytes."""
    return list(_judged(comparison, step).select_related("action").order_by("id"))


def judged_count(comparison: Comparison) -> int:
    """How many those are."""
    return _judged(comparison, None).count()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToBeAsked:
    """A model by its resolved name, and about how many cells it is to be asked."""

    model: str
    cells: int


def ask_judge(comparison: Comparison, use_model: str, *, by: str, step: int | None = None) -> ToBeAsked:
    """Note that a model is to be asked about every changed cell (or the one of that step) that it has no opinion on yet.

    A door rings for them after commit. Raises as `cells_left` does.
    """
    with transaction.atomic():
        Comparison.objects.select_for_update().get(id=comparison.id)
        model, left = cells_left(comparison, use_model, step)
        CellOpinion.objects.bulk_create(
            CellOpinion(comparison=comparison, step=each, model=str(model), requested_by=by[:254])
            for each in left
        )
    return ToBeAsked(model=str(model), cells=len(left))


def cells_left(
    comparison: Comparison, use_model: str, step: int | None
) -> tuple[ModelName, list[ReplayStep]]:
    """The judge by its resolved name, and the cells that it would be asked about: those that it has no opinion on.

    Raises `InvalidInput`, `Unavailable` for a model that cannot judge, `Conflict` where nothing is left to judge,
    `InvalidInput` for more than `MOST_CELLS` cells.
    """
    steps = judged_cells(comparison, step)
    if not steps:
        raise _nothing()
    model = judge_model(steps[0].action, use_model)
    states = ("waiting", "asking", "done") if step is None else ("waiting", "asking")
    known = CellOpinion.objects.filter(step__in=steps, model=str(model), state__in=states)
    there = set(known.values_list("step_id", flat=True))
    left = [each for each in steps if each.id not in there]
    if not left:
        raise _nothing()
    if len(left) > MOST_CELLS:
        raise InvalidInput(
            f"That would be {len(left):,} cells, and a judge is asked about at most {MOST_CELLS:,} at a time; ask cell by cell.",
            code="too_many_cells",
        )
    return model, left


def cancel_judges(comparison: Comparison) -> int:
    """Ask no judge that was not asked yet; how many cells that were."""
    waiting = CellOpinion.objects.filter(comparison=comparison, state="waiting")
    return waiting.update(state="cancelled", finished_at=now())


def work_off(comparison_id: UUID) -> int:
    """Ask about one waiting cell after the other until none is left; how many. Safe to run twice and at the same time."""
    return sum(1 for _ in _each(comparison_id))


def due_for_ringing() -> list[UUID]:
    """The comparisons with cells that wait for a judge and nobody at them; rows whose worker was lost become `lost`."""
    moment = now()
    lost = CellOpinion.objects.filter(state="asking", asked_at__lt=moment - LOST_AFTER)
    lost.update(state="lost", finished_at=moment)
    rows = (
        CellOpinion.objects.order_by()
        .values("comparison_id")
        .annotate(waits_since=Min("created_at", filter=Q(state="waiting")), last=Max("asked_at"))
        .filter(waits_since__lt=moment - QUIET)
    )
    return [row["comparison_id"] for row in rows if row["last"] is None or row["last"] < moment - QUIET]


def _judged(comparison: Comparison, step: int | None) -> QuerySet[ReplayStep]:
    of_it = ReplayStep.objects.filter(
        replay__run__comparison=comparison, status="done", output__isnull=False, verdict__isnull=False
    ).exclude(verdict__in=NOT_JUDGED)
    return of_it.filter(replay__run__repeat__gt=0) if step is None else of_it.filter(id=step)


def _each(comparison_id: UUID) -> Iterator[CellOpinion]:
    while (row := _claimed(comparison_id)) is not None:
        _judge(row)
        yield row


def _claimed(comparison_id: UUID) -> CellOpinion | None:
    with transaction.atomic():
        waiting = CellOpinion.objects.select_for_update(skip_locked=True, of=("self",))
        row = (
            waiting.filter(comparison_id=comparison_id, state="waiting").order_by("created_at", "id").first()
        )
        if row is None:
            return None
        why_not = _too_dear(row)
        row.state, row.asked_at = ("cancelled", None) if why_not else ("asking", now())
        if why_not:
            row.error_type, row.error_message, row.finished_at = "spend_limit", why_not, now()
        row.save()
    return row


def _too_dear(row: CellOpinion) -> str | None:
    """Why the judge is not asked about this cell: too little of the comparison's spend limit is left for both calls."""
    if row.comparison.spend_limit_usd is None:
        return None
    limit = Decimal(str(row.comparison.spend_limit_usd))
    purse = Purse(limit=limit, spent=_spent(row.comparison), reserved=FREE, unknown=0)
    cost = _expected(row)
    return None if purse.fits(cost) else purse.why_not(cost, "comparison")


def _expected(row: CellOpinion) -> Decimal | None:
    provider, _, name = row.model.partition(":")
    model = ModelName(provider=provider, model=name)
    step = ReplayStep.objects.select_related(*MATERIAL).get(id=row.step_id)
    with suppress(InvalidInput):  # then no call is made
        costs = [expected_call(model, prompt) for _, prompt in prompts_of(step)]
        return None if None in costs else sum((each for each in costs if each is not None), FREE)
    return None


def expected_call(model: ModelName, prompt: Prompt) -> Decimal | None:
    """About what one call of a judge costs; None where its price is unknown."""
    return call_cost(model, tokens_about(sum(len(message.content) for message in prompt.messages)))


def call_cost(model: ModelName, tokens: int) -> Decimal | None:
    """What a call of a judge costs that reads so many tokens; None where its price is unknown."""
    usage = TokenUsage(input_tokens=tokens, output_tokens=TOKENS_OF_AN_OPINION)
    return price_if_known(model, usage, now()).cost_usd


def _spent(comparison: Comparison) -> Decimal:
    attempts = ReplayAttempt.objects.filter(step__replay__run__comparison=comparison)
    sums = [
        rows.aggregate(total=Sum("cost_usd"))["total"] or Decimal(0)
        for rows in (attempts, CellOpinion.objects.filter(comparison=comparison))
    ]
    return sum(sums, FREE)


def _judge(row: CellOpinion) -> None:
    if row.state != "asking":
        return
    asked = _Asked()
    try:
        _ask_both(row, asked)
    except TimeMachineError as failed:
        _write(row.id, asked, {"state": "failed", "error_type": failed.code, "error_message": failed.message})
        return
    relation, preference = together(asked.said)
    _write(row.id, asked, {"state": "done", "relation": relation, "preference": preference})


def _ask_both(row: CellOpinion, asked: _Asked) -> None:
    step = ReplayStep.objects.select_related(*MATERIAL).get(id=row.step_id)
    model = usable_model(step.replay.project_id, row.model)
    for order, prompt in prompts_of(step):
        _ask(step.replay.project_id, model, prompt, order, asked)


def prompts_of(step: ReplayStep) -> list[tuple[str, Prompt]]:
    """What a judge of this cell is sent, in both orders. Raises `InvalidInput` where question or answers are no texts."""
    question, recorded = frozen.question_of(step.action), frozen.answer_of(step.action)
    if question is None or recorded is None or step.output is None:
        raise InvalidInput("Question or answer was not recorded as text.", code="nothing_to_judge")
    passages = [
        Passage(title=each.title, text=each.text) for each in frozen.passages_of(frozen.hits_of(step.action))
    ]
    new = text(step.output)
    return [
        (order, render(question, passages, first, second))
        for order, first, second in ((RECORDED_FIRST, recorded, new), (NEW_FIRST, new, recorded))
    ]


def _ask(project_id: UUID, model: ModelName, prompt: Prompt, order: str, asked: _Asked) -> None:
    request = ModelRequest(
        model=model,
        connection=connection_of(project_id, model),
        question="",
        passages=(),
        messages=prompt.messages,
        temperature=0,
    )
    asked.prompts.append(
        {"order": order, "messages": [[each.role, each.content] for each in prompt.messages]}
    )
    let_go()
    try:
        completion = complete(request)
    except TimeMachineError as failed:
        asked.calls += int(failed.facts.get("attempts", 1))
        asked.costs.append(failed_price(model, failed, now()).cost_usd)
        raise
    asked.calls += completion.attempts
    asked.raw.append(completion.text)
    asked.usage.append(None if completion.usage is None else asdict(completion.usage))
    asked.costs.append(_cost(model, completion))
    asked.said.append(read(text_of(completion), order))


def _cost(model: ModelName, completion: Completion) -> Decimal | None:
    cost = price_if_known(model, completion.usage, now(), used=completion.model).cost_usd
    return None if cost is None else round(cost, COST_DIGITS)


def _write(opinion_id: UUID, asked: _Asked, facts: dict[str, Any]) -> None:
    """Write what came of it, if the cell is still there: an erased session takes what comes back late along."""
    with transaction.atomic():
        row = CellOpinion.objects.select_for_update(of=("self",)).filter(id=opinion_id).first()
        if row is None:
            return
        project_id = row.comparison.project_id
        row.prompt_id = _kept(project_id, asked.prompts)
        row.raw_id = _kept(project_id, asked.raw)
        row.asked = [asdict(each) for each in asked.said]
        row.prompt_template = TEMPLATE
        row.usage = {"calls": asked.usage}
        row.cost_usd = _total(asked.costs)
        row.calls_made = asked.calls
        row.finished_at = now()
        for name, value in facts.items():
            setattr(row, name, value)
        row.save()


def _kept(project_id: UUID, value: Sequence[Any]) -> int | None:
    if not value:
        return None
    content = content_of(list(value))
    return keep(project_id, [content])[content]


def _total(costs: Sequence[Decimal | None]) -> Decimal | None:
    """The sum; None as soon as one of them is unknown, and nothing for no call at all."""
    known = [each for each in costs if each is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


def _nothing() -> Conflict:
    return Conflict(
        "There is no answer here for this judge: all are the same as recorded, have none, or were judged by it.",
        code="nothing_to_judge",
    )
