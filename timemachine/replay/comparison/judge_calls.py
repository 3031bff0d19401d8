"""Asking one judge model about one cell: the two prompts, with the answers in either order, and what is stored of the replies."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db import Error, transaction

from timemachine.core.payloads.commands import store
from timemachine.core.payloads.queries import text
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import content_of
from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.llm.calling import complete
from timemachine.llm.concurrency import release_connection
from timemachine.llm.prices import failed_price, price_if_known
from timemachine.llm.pure.cancellation import Listening, RetryWait
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.completion import ModelRequest
from timemachine.llm.pure.usage import TokenUsage
from timemachine.llm.queries import usable_model
from timemachine.recording.answering.pure.prompt import Passage, Prompt
from timemachine.recording.sessions.locks import lock_against_erasure
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.replay.comparison.models import CellOpinion
from timemachine.replay.comparison.pure.judge_prompt import (
    NEW_FIRST,
    RECORDED_FIRST,
    TEMPLATE,
    JudgeReplyOut,
    agreement,
    read,
    render,
)
from timemachine.replay.judging.cancellation import cancel_when
from timemachine.replay.judging.commands import judge_request
from timemachine.replay.judging.pure.replies import text_of
from timemachine.replay.runs import frozen
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.budget import FREE
from timemachine.replay.runs.spend_limit import settle_extra_call

log = logging.getLogger(__name__)

MATERIAL: Final = ("action__input", "action__output", "output", "replay")
TOKENS_OF_AN_OPINION: Final = 60


@dataclass(slots=True, kw_only=True)
class _Calls:
    """The calls for one cell so far, with their cost and replies."""

    replies: list[JudgeReplyOut] = field(default_factory=list)
    prompts: list[Any] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    usage: list[TokenUsage | None] = field(default_factory=list)
    costs: list[Decimal] = field(default_factory=list)
    calls: int = 0
    unknown_calls: int = 0

    @property
    def cost_usd(self) -> Decimal | None:
        """Return the known cost; None if calls were made but no cost is known, 0 without a call."""
        return sum(self.costs, FREE) if self.costs or not self.unknown_calls else None

    def count(self, calls: int, cost: Decimal | None) -> None:
        """Count a call with this number of attempts, and its cost; None if that is unknown."""
        self.calls += calls
        if cost is None:
            self.unknown_calls += calls
        else:
            self.costs.append(cost)


def ask(row: CellOpinion) -> None:
    """Ask the model of an `asking` row about its cell, in both orders, and store the result, whatever it is.

    The call ends within a second if the row stops being `asking`, because someone cancelled it. An answer
    that arrives before that is stored. Nothing is asked if the session was erased in the meantime, because
    the row was deleted with it.
    """
    step = ReplayStep.objects.select_related(*MATERIAL).filter(id=row.step_id).first()
    if step is None:
        settle_extra_call(row.id, FREE)
        return
    calls, cancelled = _Calls(), CellOpinion.objects.filter(id=row.id).exclude(state="asking")
    try:
        with cancel_when(cancelled.exists, f"opinion {row.id}", partial(_note, row.id)) as listening:
            model = usable_model(step.replay.project_id, row.model)
            for order, prompt in prompts_of(step):
                _ask(judge_request(step.replay.project_id, model, prompt), order, calls, listening)
    except TimeMachineError as failed:
        result = {"state": "failed", "error_type": failed.code, "error_message": failed.message}
    else:
        relation, preference = agreement(calls.replies)
        result = {"state": "done", "relation": relation, "preference": preference}
    _write(step, row.id, calls, {"error_type": None, "error_message": None, **result})


def prompts_of(step: ReplayStep) -> list[tuple[str, Prompt]]:
    """Return the prompts for a judge of this cell, in both orders. Raises `InvalidInput` if question or answers are not texts."""
    question, recorded = frozen.question_of(step.action), frozen.answer_of(step.action)
    if question is None or recorded is None or step.output is None:
        raise InvalidInput("The question or the answer was not recorded as text.", code="nothing_to_judge")
    passages = [
        Passage(title=each.title, text=each.text) for each in frozen.passages_of(frozen.hits_of(step.action))
    ]
    new = text(step.output)
    return [
        (order, render(question, passages, first, second))
        for order, first, second in ((RECORDED_FIRST, recorded, new), (NEW_FIRST, new, recorded))
    ]


def call_cost(model: ModelName, tokens: int) -> Decimal | None:
    """Return the cost of a judge call that reads this many tokens; None if the price is unknown."""
    usage = TokenUsage(input_tokens=tokens, output_tokens=TOKENS_OF_AN_OPINION)
    return price_if_known(model, usage, now()).cost_usd


def _note(opinion_id: UUID, waiting: RetryWait) -> None:
    """Store that the judge model is busy, so that pages can show it."""
    retry_at = now() + timedelta(seconds=waiting.seconds)
    try:
        asking = CellOpinion.objects.filter(id=opinion_id, state="asking")
        asking.update(asked_again_at=retry_at, waits_because=waiting.why)
    except Error as why:  # the wait is not shown then; the call continues
        log.warning("cannot store that opinion %s waits: %s", opinion_id, why)
    finally:
        release_connection()


def _ask(request: ModelRequest, order: str, calls: _Calls, listening: Listening) -> None:
    calls.prompts.append(
        {"order": order, "messages": [[each.role, each.content] for each in request.messages]}
    )
    release_connection()
    try:
        completion = complete(request, listening)
    except TimeMachineError as failed:
        calls.count(int(failed.facts.get("attempts", 1)), failed_price(request.model, failed, now()).cost_usd)
        raise
    cost = price_if_known(request.model, completion.usage, now(), used=completion.model).cost_usd
    calls.count(completion.attempts, None if cost is None else round(cost, COST_DIGITS))
    calls.raw.append(completion.text)
    calls.usage.append(completion.usage)
    calls.replies.append(read(text_of(completion), order))


def _write(step: ReplayStep, opinion_id: UUID, calls: _Calls, facts: Mapping[str, object]) -> None:
    """Store the result if the cell still exists. If its session was erased, the late result is dropped."""
    with transaction.atomic():
        lock_against_erasure([step.replay.session_id])
        row = CellOpinion.objects.select_for_update(of=("self",)).filter(id=opinion_id).first()
        settle_extra_call(opinion_id, None if calls.unknown_calls else calls.cost_usd)
        if row is None:
            return
        project_id = row.comparison.project_id
        row.prompt_id = _store(project_id, calls.prompts)
        row.raw_id = _store(project_id, calls.raw)
        row.asked = [each.model_dump() for each in calls.replies]
        row.prompt_template = TEMPLATE
        row.usage = {"calls": [None if each is None else asdict(each) for each in calls.usage]}
        row.cost_usd = calls.cost_usd
        row.calls_made = calls.calls
        row.asked_again_at = row.waits_because = None
        row.unknown_cost_calls = calls.unknown_calls
        row.finished_at = now()
        for name, value in facts.items():
            setattr(row, name, value)
        row.save()


def _store(project_id: UUID, value: Sequence[Any]) -> int | None:
    if not value:
        return None
    content = content_of(list(value))
    return store(project_id, [content])[content]
