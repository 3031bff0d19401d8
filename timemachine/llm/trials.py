"""Model tests: one small, real call on request, stored with its result and cost."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from timemachine.core.database import lock_until_commit
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, TimeMachineError, TooManyRequests
from timemachine.core.pure.postgres_text import searchable
from timemachine.llm.calling import complete
from timemachine.llm.concurrency import call_slot, release_connection
from timemachine.llm.models import ModelTrial
from timemachine.llm.prices import price
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.llm.pure.completion import Completion, Message, ModelRequest
from timemachine.llm.queries import connection_of, usable_model

QUESTION: Final = "Reply with the word OK."
MOST_TOKENS: Final = 128  # a model that reasons first must reach its answer
PATIENCE_SECONDS: Final = 20.0
MOST, WINDOW = 6, timedelta(minutes=1)
SHOWN_CHARACTERS: Final = 200
_COST_DIGITS: Final = 15  # of the column


def try_model(project_id: UUID, text: str, *, by: str) -> ModelTrial:
    """Call the model once, without retries, and store the first words or the error, the time, the tokens and the cost.

    It is a paid call. Errors are raised before anything is called.

    Raises:
        InvalidInput: The model is unknown or local.
        Unavailable: The model cannot be used, or all slots are taken.
        TooManyRequests: The project made `MOST` tests within `WINDOW`.
    """
    name = usable_model(project_id, text)
    if name.provider == LOCAL:
        raise InvalidInput(
            f"{name} runs here and always works, so there is nothing to test.", code="nothing_to_test"
        )
    with call_slot():
        trial = _begun(project_id, name, by)
        try:
            request = _request(project_id, name)
            release_connection()
            _note_answer(trial, name, complete(request))
        except TimeMachineError as failed:
            trial.error_code, trial.words = failed.code, searchable(failed.message)
        trial.ended_at = now()
        trial.save()
    return trial


def latest_trials(project_id: UUID) -> dict[str, ModelTrial]:
    """Return the last test of each of the project's models, by the model's name."""
    found = ModelTrial.objects.filter(project_id=project_id)
    return {trial.model: trial for trial in found.order_by("model", "-id").distinct("model")}


@transaction.atomic
def _begun(project_id: UUID, name: ModelName, by: str) -> ModelTrial:
    lock_until_commit(f"trials {project_id}")  # or two simultaneous ones would not see each other
    moment = now()
    lately = ModelTrial.objects.filter(project_id=project_id, started_at__gt=moment - WINDOW)
    times = sorted(lately.values_list("started_at", flat=True))
    if len(times) >= MOST:
        wait = max(1, round((times[-MOST] + WINDOW - moment).total_seconds()))
        raise TooManyRequests(
            f"{MOST} models were tested in the last minute, and each test may cost money. Wait {wait} s.",
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
