"""One judge asked about one cell: what it is sent, twice with the answers the other way round, and what is kept of that."""

import logging
from collections.abc import Sequence
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
from timemachine.llm.pure.completion import Completion, ModelRequest, TokenUsage
from timemachine.llm.queries import connection_of, usable_model
from timemachine.recording.answering.pure.prompt import Passage, Prompt
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.replay.comparison.models import CellOpinion
from timemachine.replay.comparison.pure.judge_prompt import (
    NEW_FIRST,
    RECORDED_FIRST,
    TEMPLATE,
    Said,
    read,
    render,
    together,
)
from timemachine.replay.judging.cancellation import ending_when
from timemachine.replay.judging.pure.judge_answers import text_of
from timemachine.replay.runs import frozen
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.budget import FREE
from timemachine.replay.runs.spend_limit import settle_beside

log = logging.getLogger(__name__)

MATERIAL: Final = ("action__input", "action__output", "output", "replay")
TOKENS_OF_AN_OPINION: Final = 60


@dataclass(slots=True, kw_only=True)
class _Asked:
    """What came of the calls for one cell so far."""

    said: list[Said] = field(default_factory=list)
    prompts: list[Any] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    usage: list[dict[str, Any] | None] = field(default_factory=list)
    costs: list[Decimal] = field(default_factory=list)
    calls: int = 0
    unknown_calls: int = 0

    @property
    def cost_usd(self) -> Decimal | None:
        """As far as it is known: None where calls were made and the cost of none is, and nothing for no call at all."""
        return sum(self.costs, FREE) if self.costs or not self.unknown_calls else None

    def count(self, calls: int, cost: Decimal | None) -> None:
        """Count a call that was tried so often, and what that cost; None where nobody knows."""
        self.calls += calls
        if cost is None:
            self.unknown_calls += calls
        else:
            self.costs.append(cost)


def ask(row: CellOpinion) -> None:
    """Ask the model of a row that is `asking` about its cell, in both orders, and keep whatever came of it.

    The call ends within a second once the row is not `asking` any more: somebody cancelled it. An
    answer that comes before that is kept. Nobody is asked where the session was erased meanwhile; the row went with it.
    """
    step = ReplayStep.objects.select_related(*MATERIAL).filter(id=row.step_id).first()
    if step is None:
        settle_beside(row.id, FREE)
        return
    asked, ended = _Asked(), CellOpinion.objects.filter(id=row.id).exclude(state="asking")
    try:
        with ending_when(ended.exists, f"opinion {row.id}", partial(_note, row.id)) as listening:
            _ask_both(step, row.model, asked, listening)
    except TimeMachineError as failed:
        _write(row.id, asked, {"state": "failed", "error_type": failed.code, "error_message": failed.message})
        return
    relation, preference = together(asked.said)
    came_to = {"state": "done", "relation": relation, "preference": preference}
    _write(row.id, asked, came_to | {"error_type": None, "error_message": None})


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


def call_cost(model: ModelName, tokens: int) -> Decimal | None:
    """What a call of a judge costs that reads so many tokens; None where its price is unknown."""
    usage = TokenUsage(input_tokens=tokens, output_tokens=TOKENS_OF_AN_OPINION)
    return price_if_known(model, usage, now()).cost_usd


def _note(opinion_id: UUID, waiting: RetryWait) -> None:
    """Write down that the judge's model is busy, for those who watch."""
    again = now() + timedelta(seconds=waiting.seconds)
    try:
        asking = CellOpinion.objects.filter(id=opinion_id, state="asking")
        asking.update(asked_again_at=again, waits_because=waiting.why)
    except Error as why:  # nobody sees it wait then; the call goes on all the same
        log.warning("opinion %s could not say that it waits: %s", opinion_id, why)
    finally:
        release_connection()


def _ask_both(step: ReplayStep, name: str, asked: _Asked, listening: Listening) -> None:
    model = usable_model(step.replay.project_id, name)
    for order, prompt in prompts_of(step):
        _ask(_request(step.replay.project_id, model, prompt), order, asked, listening)


def _request(project_id: UUID, model: ModelName, prompt: Prompt) -> ModelRequest:
    return ModelRequest(
        model=model,
        connection=connection_of(project_id, model),
        question="",
        passages=(),
        messages=prompt.messages,
        temperature=0,
    )


def _ask(request: ModelRequest, order: str, asked: _Asked, listening: Listening) -> None:
    asked.prompts.append(
        {"order": order, "messages": [[each.role, each.content] for each in request.messages]}
    )
    release_connection()
    try:
        completion = complete(request, listening)
    except TimeMachineError as failed:
        asked.count(int(failed.facts.get("attempts", 1)), failed_price(request.model, failed, now()).cost_usd)
        raise
    asked.count(completion.attempts, _cost(request.model, completion))
    asked.raw.append(completion.text)
    asked.usage.append(None if completion.usage is None else asdict(completion.usage))
    asked.said.append(read(text_of(completion), order))


def _cost(model: ModelName, completion: Completion) -> Decimal | None:
    cost = price_if_known(model, completion.usage, now(), used=completion.model).cost_usd
    return None if cost is None else round(cost, COST_DIGITS)


def _write(opinion_id: UUID, asked: _Asked, facts: dict[str, Any]) -> None:
    """Write what came of it, if the cell is still there: an erased session takes what comes back late along."""
    with transaction.atomic():
        row = CellOpinion.objects.select_for_update(of=("self",)).filter(id=opinion_id).first()
        settle_beside(opinion_id, None if asked.unknown_calls else asked.cost_usd)
        if row is None:
            return
        project_id = row.comparison.project_id
        row.prompt_id = _kept(project_id, asked.prompts)
        row.raw_id = _kept(project_id, asked.raw)
        row.asked = [asdict(each) for each in asked.said]
        row.prompt_template = TEMPLATE
        row.usage = {"calls": asked.usage}
        row.cost_usd = asked.cost_usd
        row.calls_made = asked.calls
        row.asked_again_at = row.waits_because = None
        row.unknown_cost_calls = asked.unknown_calls
        row.finished_at = now()
        for name, value in facts.items():
            setattr(row, name, value)
        row.save()


def _kept(project_id: UUID, value: Sequence[Any]) -> int | None:
    if not value:
        return None
    content = content_of(list(value))
    return store(project_id, [content])[content]
