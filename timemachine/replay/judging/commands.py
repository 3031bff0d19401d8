"""Asking a judge model about a recorded answer, and storing everything about it.

The row is committed before the model is called, and the call is made while the caller waits, so no worker can
repeat it. A process that is lost leaves a row that says "may have been billed"; it is only asked again by a
person.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from uuid import UUID

from django.db import IntegrityError, transaction

from timemachine.core.payloads.commands import store
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.content import content_of, text_sha256
from timemachine.core.pure.errors import Conflict, InvalidInput, ModelFailed, NotFound, TimeMachineError
from timemachine.core.pure.ids import uuid7
from timemachine.core.row_security import rows_of_every_project
from timemachine.llm.calling import complete
from timemachine.llm.concurrency import call_slot, release_connection
from timemachine.llm.prices import failed_price, price_if_known
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.llm.pure.completion import Completion, ModelRequest
from timemachine.llm.queries import connection_of, usable_model
from timemachine.recording.answering.pure.prompt import Prompt
from timemachine.recording.sessions.locks import lock_against_erasure
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.replay.judging.cancellation import cancellable
from timemachine.replay.judging.material import Material, material_of
from timemachine.replay.judging.models import ASKING, DONE, FAILED, LONGEST_CALL, LOST, Judgement
from timemachine.replay.judging.pure.prompt import as_sent, render
from timemachine.replay.judging.pure.replies import SentenceVerdict, StoredSentence, read_verdicts, text_of


def judge(action: Action, *, use_model: str, by: str, judgement_id: UUID | None = None) -> Judgement:
    """Ask a model which sentences of the recorded answer the recorded passages support, and return the row with the result.

    A failing provider, an unreadable reply, and a cancelled call lead to a `failed` row with the reason. A
    caller that passes a `judgement_id` can cancel the judgement from the start; using the same id again is a
    `Conflict`.

    Raises, before anything is sent: `InvalidInput` and `Conflict` for a step that cannot be judged or that
    this model is judging; `InvalidInput` or `Unavailable` for a model that cannot judge or has no free slot.
    """
    model = judge_model(action, use_model)
    material = material_of(action)
    rendered = render(material.question, material.passages, material.sentences)
    with call_slot():
        row = _begun(material, model, rendered, by, judgement_id or uuid7())
        try:
            request = judge_request(action.project_id, model, rendered)
            release_connection()
            with cancellable(row) as listening:
                completion = complete(request, listening)
        except TimeMachineError as failed:
            priced = failed_price(model, failed, now())
            facts = {"cost_usd": priced.cost_usd, "prices": priced.prices} | _failure(failed)
            return _ended(row, None, facts, raw=failed.facts.get("partial_text"))
        return _answered(row, material, model, completion)


def judge_model(action: Action, use_model: str) -> ModelName:
    """Return the judge model if it can judge. There is no default."""
    if not use_model.strip():
        raise InvalidInput("Choose a judge model, for example openai:gpt-4o-mini.", code="model_needed")
    model = usable_model(action.project_id, use_model)
    if model.provider == LOCAL:
        raise InvalidInput(
            f"{model} is not a language model: it quotes sentences and cannot judge them. Choose another one.",
            code="cannot_judge",
            model=str(model),
        )
    return model


def judge_request(project_id: UUID, model: ModelName, rendered: Prompt) -> ModelRequest:
    """Return the request that sends this prompt to a judge model."""
    return ModelRequest(
        model=model,
        connection=connection_of(project_id, model),
        question="",
        passages=(),
        messages=rendered.messages,
        temperature=0,
    )


def _begun(material: Material, model: ModelName, rendered: Prompt, by: str, judgement_id: UUID) -> Judgement:
    action, moment = material.action, now()
    earlier = Judgement.objects.filter(action=action, model=str(model), state=ASKING)
    earlier.filter(created_at__lt=moment - LONGEST_CALL).update(state=LOST, finished_at=moment)
    prompt = content_of([[each.role, each.content] for each in rendered.messages])
    try:
        with transaction.atomic():
            return Judgement.objects.create(
                id=judgement_id,
                project_id=action.project_id,
                session_id=action.session_id,
                action=action,
                sequence=action.sequence,
                model=str(model),
                prompt_template=rendered.template,
                system_prompt=rendered.system_prompt,
                prompt_sha256=rendered.sha256,
                prompt_id=store(action.project_id, [prompt])[prompt],
                answer_sha256=text_sha256(material.answer),
                sentences=[{"number": n, "text": text} for n, text in enumerate(material.sentences, 1)],
                created_by=by[:254],
                created_at=moment,
            )
    except IntegrityError as why:
        with rows_of_every_project():
            is_sent = Judgement.objects.filter(id=judgement_id).exists()
        if is_sent:
            raise Conflict(
                "This form was already submitted. The judge is not asked twice; its judgement is here or will appear here.",
                code="judgement_sent_twice",
            ) from why
        if "judgement_asked_once_at_a_time" not in str(why):
            raise
        raise _under_way(earlier.first(), model) from why


def _under_way(started: Judgement | None, model: ModelName) -> Conflict:
    again_at = None if started is None else written(started.created_at + LONGEST_CALL)
    return Conflict(
        f"{model} is already judging this step. Wait for its reply. If the server has stopped, you can ask "
        f"again from {again_at or 'now'}.",
        code="judge_under_way",
        again_at=again_at,
    )


def _answered(row: Judgement, material: Material, model: ModelName, completion: Completion) -> Judgement:
    facts = _facts(model, completion)
    try:
        raw, passages = text_of(completion), as_sent(material.passages)
        verdicts = read_verdicts(raw, len(material.sentences), passages)
    except ModelFailed as failed:
        return _ended(row, None, facts | _failure(failed), raw=completion.text)
    return _ended(row, _judged(row, material, verdicts), facts, raw=completion.text)


def _judged(row: Judgement, material: Material, verdicts: Sequence[SentenceVerdict]) -> list[StoredSentence]:
    """Return the sentences with their verdicts, and for each passage the frame with its name in the session."""
    return [
        sentence
        | asdict(verdict)
        | {"frame": None if verdict.passage is None else material.frames[verdict.passage - 1]}
        for sentence, verdict in zip(row.sentences, verdicts, strict=True)
    ]


def _facts(model: ModelName, completion: Completion) -> dict[str, object]:
    """Return the usage and cost of the call. If the price is unknown, the reply is still stored."""
    priced = price_if_known(model, completion.usage, now(), used=completion.model)
    parameters = {
        **completion.parameters,
        "finish_reason": completion.finish_reason,
        "response_id": completion.response_id,
        "response_model": completion.model,
    }
    return {
        "parameters": {name: value for name, value in parameters.items() if value is not None},
        "usage": None if completion.usage is None else asdict(completion.usage),
        "cost_usd": None if priced.cost_usd is None else round(priced.cost_usd, COST_DIGITS),
        "prices": priced.prices,
        "calls_made": completion.attempts,
        "duration_ms": completion.duration_ms,
    }


def _failure(failed: TimeMachineError) -> dict[str, object]:
    facts: dict[str, object] = {"state": FAILED, "error_type": failed.code, "error_message": failed.message}
    attempts = failed.facts.get("attempts")
    return facts if attempts is None else facts | {"calls_made": attempts}


def _ended(
    row: Judgement, sentences: list[StoredSentence] | None, facts: Mapping[str, object], *, raw: str | None
) -> Judgement:
    """Write the result if the step still exists. If its session was erased, the late result is dropped."""
    with transaction.atomic():
        lock_against_erasure([row.session_id])
        stored = Judgement.objects.select_for_update().filter(id=row.id).first()
        if stored is None:
            raise NotFound(
                "The session was deleted during the call. Nothing was stored, and the call may have been billed.",
                code="step_not_found",
            )
        if raw:
            content = content_of(raw)
            stored.raw_id = store(row.project_id, [content])[content]
        for name, value in {"state": DONE, **facts}.items():
            setattr(stored, name, value)
        stored.sentences = sentences or stored.sentences
        stored.finished_at = now()
        stored.save()
    return stored
