"""Trying a model out: one real call, as small as one can be, made because somebody pressed a button, and kept with what it cost."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, TimeMachineError, TooManyRequests
from timemachine.core.pure.postgres_text import searchable
from timemachine.llm.calling import complete
from timemachine.llm.concurrency import let_go, place
from timemachine.llm.models import ModelTrial
from timemachine.llm.prices import price
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.llm.pure.completion import Completion, Message, ModelRequest
from timemachine.llm.queries import connection_of, usable_model

QUESTION: Final = "Reply with the word OK."
MOST_TOKENS: Final = 128  # a model that thinks first has to get to its answer
PATIENCE_SECONDS: Final = 20.0
MOST, WINDOW = 6, timedelta(minutes=1)
SHOWN_CHARACTERS: Final = 200
_COST_DIGITS: Final = 15  # of the column


def try_model(project_id: UUID, text: str, *, by: str) -> ModelTrial:
    """Call the model once, without repeating, and keep what came of it: its first words or its error, time, tokens, cost.

    It is a paid call. Raises, before anything is called, `InvalidInput` for an unknown model and for a local one, `Unavailable`
    for one that cannot be used and where every place is taken, and `TooManyRequests` after `MOST` trials of a project in `WINDOW`.
    """
    name = usable_model(project_id, text)
    if name.provider == LOCAL:
        raise InvalidInput(
            f"{name} is called nowhere, so there is nothing to test; it always works.", code="nothing_to_test"
        )
    with place():
        trial = _begun(project_id, name, by)
        try:
            request = _request(project_id, name)
            let_go()
            _note_answer(trial, name, complete(request))
        except TimeMachineError as failed:
            trial.error_code, trial.words = failed.code, searchable(failed.message)
        trial.ended_at = now()
        trial.save()
    return trial


def latest_trials(project_id: UUID) -> dict[str, ModelTrial]:
    """The last trial of each of the project's models that somebody tried, by the model's name."""
    found: QuerySet[ModelTrial] = ModelTrial.objects.filter(project_id=project_id)
    return {trial.model: trial for trial in found.order_by("model", "-id").distinct("model")}


@transaction.atomic
def _begun(project_id: UUID, name: ModelName, by: str) -> ModelTrial:
    with connection.cursor() as cursor:  # or two at once would not see each other
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"trials {project_id}"])
    moment = now()
    lately = ModelTrial.objects.filter(project_id=project_id, started_at__gt=moment - WINDOW)
    times = sorted(lately.values_list("started_at", flat=True))
    if len(times) >= MOST:
        wait = max(1, round((times[-MOST] + WINDOW - moment).total_seconds()))
        raise TooManyRequests(
            f"{MOST} tests of models were made within a minute, and each may cost something; wait {wait} s.",
            code="too_many_tests",
            retry_after_seconds=wait,
        )
    return ModelTrial.objects.create(project_id=project_id, model=str(name), by=by, started_at=moment)


def _request(project_id: UUID, name: ModelName) -> ModelRequest:
    return ModelRequest(
        model=name,
        connection=connection_of(project_id, name),
        question=QUESTION,
        passages=(),
        messages=(Message(role="user", content=QUESTION),),
        max_tokens=MOST_TOKENS,
        timeout_seconds=PATIENCE_SECONDS,
        whole_seconds=PATIENCE_SECONDS,
        retries=0,
    )


def _note_answer(trial: ModelTrial, name: ModelName, answered: Completion) -> None:
    usage = answered.usage
    priced = price(name, usage, trial.started_at, used=answered.model)
    trial.words = searchable(answered.text[:SHOWN_CHARACTERS])
    trial.duration_ms = answered.duration_ms
    trial.input_tokens = usage.input_tokens if usage else None
    trial.output_tokens = usage.output_tokens if usage else None
    trial.cost_usd = None if priced.cost_usd is None else round(priced.cost_usd, _COST_DIGITS)
    trial.prices = priced.prices
