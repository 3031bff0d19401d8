"""Asking a model over given passages: the prompt, the call, what it cost, how far the answer is supported."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from timemachine.core.pure.clock import now
from timemachine.core.pure.process_pool import run_in_pool
from timemachine.llm.calling import complete
from timemachine.llm.prices import price
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import Connection, ModelName
from timemachine.llm.pure.completion import Completion, ModelRequest
from timemachine.llm.queries import connection_of
from timemachine.recording.answering.pure import prompt
from timemachine.recording.sessions.pure.draft import Usage
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.text.pure.grounding.schemas import GroundingOut
from timemachine.text.pure.grounding.support import Passage as Support
from timemachine.text.pure.grounding.support import ground


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPassage:
    """A passage that the answer may use; `frame` names it in the grounding."""

    frame: int | str | None
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallParameters:
    """What is asked of the model beside the question. None leaves it to the provider (system prompt and template: to ours)."""

    system_prompt: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    prompt_template: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer with all that is known of it; `calls_made` counts the requests that were sent, retries included.

    `whole` says that it may be kept for the next ask of the same kind. One that was kept so is `cached`: it cost nothing and
    used no tokens now; `saved_usd` is what the original cost (None: unknown), `cached_from` which ask that was: `session` and
    `sequence` (None outside a session), `at`, `call_ms` and `usage`.
    """

    text: str
    model: str
    parameters: dict[str, Any]
    usage: Usage | None
    cost_usd: Decimal | None
    prices: dict[str, Any] | None
    duration_ms: float
    grounding: dict[str, Any]
    calls_made: int
    whole: bool = False
    cached: bool = False
    saved_usd: Decimal | None = None
    cached_from: dict[str, Any] | None = None


def answer(
    project_id: UUID,
    model: ModelName,
    question: str,
    passages: Sequence[ContextPassage],
    parameters: CallParameters,
    listening: Listening | None = None,
    connection: Connection | None = None,
) -> Answered:
    """The model's answer over these passages, priced and grounded; `listening` gets it as it is written, and may end the call.

    `connection` says how the model is called, where that was looked up already.
    Raises `ModelFailed`, `Cancelled`, `Unavailable`.
    """
    rendered = prompt_of(question, passages, parameters)
    request = ModelRequest(
        model=model,
        connection=connection or connection_of(project_id, model),
        question=question,
        passages=tuple(each.text for each in passages),
        messages=rendered.messages,
        temperature=parameters.temperature,
        seed=parameters.seed,
        max_tokens=parameters.max_tokens,
    )
    completion = complete(request, listening)
    priced = price(model, completion.usage, now(), used=completion.model)
    return Answered(
        text=completion.text,
        model=str(model),
        parameters=_parameters(rendered, completion),
        usage=_usage(completion),
        cost_usd=None if priced.cost_usd is None else round(priced.cost_usd, COST_DIGITS),
        prices=priced.prices,
        duration_ms=completion.duration_ms,
        grounding=grounding_of(completion.text, passages).model_dump(),
        calls_made=completion.attempts,
        whole=completion.whole,
    )


def grounding_of(text: str, passages: Sequence[ContextPassage]) -> GroundingOut:
    """How far a text is supported by the passages, sentence by sentence."""
    supports = [Support(frame=each.frame, text=each.text) for each in passages]
    return GroundingOut.of(run_in_pool(ground, text, supports))


def prompt_of(question: str, passages: Sequence[ContextPassage], parameters: CallParameters) -> prompt.Prompt:
    """The prompt that asks this question over these passages."""
    numbered = [prompt.Passage(title=each.title, text=each.text) for each in passages]
    return prompt.render(
        question,
        numbered,
        system_prompt=parameters.system_prompt,
        template=parameters.prompt_template or prompt.TEMPLATE,
    )


def _parameters(rendered: prompt.Prompt, completion: Completion) -> dict[str, Any]:
    took = {"call_ms": round(completion.duration_ms, 3)}
    if not completion.language_model:
        return {**completion.parameters, **took}
    facts: dict[str, Any] = {
        **completion.parameters,
        **took,
        "prompt_template": rendered.template,
        "system_prompt": rendered.system_prompt,
        "prompt_sha256": rendered.sha256,
        "finish_reason": completion.finish_reason,
        "response_id": completion.response_id,
        "response_model": completion.model,
        "first_text_ms": _rounded(completion.first_text_ms),
    }
    if completion.attempts > 1:
        facts["attempts"] = completion.attempts
    if completion.cut_short:
        facts["cut_off"] = True
    if completion.broke_off_after_end:
        facts["broke_off_after_end"] = True
    if completion.not_accepted:
        facts["not_accepted"] = list(completion.not_accepted)
    return {name: value for name, value in facts.items() if value is not None}


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 3)


def _usage(completion: Completion) -> Usage | None:
    usage = completion.usage
    if usage is None:
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )
