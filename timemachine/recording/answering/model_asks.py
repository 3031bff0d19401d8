"""Ask a model about given passages: the prompt, the call, its cost, and how well the answer is supported."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from timemachine.core.pure.clock import now
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.process_pool import run_in_pool
from timemachine.llm.calling import complete
from timemachine.llm.prices import price
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import Connection, ModelName
from timemachine.llm.pure.completion import Completion, ModelRequest
from timemachine.llm.queries import connection_of
from timemachine.recording.answering.pure.prompt import TEMPLATE, Passage, Prompt, render
from timemachine.recording.sessions.pure.draft import Usage
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.text.pure.grounding.passages import Passage as Support
from timemachine.text.pure.grounding.schemas import GroundingOut
from timemachine.text.pure.grounding.support import ground


@dataclass(frozen=True, slots=True, kw_only=True)
class CallParameters:
    """Parameters of the call. None means the provider's default (for system prompt and template: ours)."""

    system_prompt: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    prompt_template: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer and the details of its call; `calls_made` counts the requests sent, including retries.

    `message` is what the model wrote as its API has it, if that is more than a text: with calls of tools or thinking. `grounding` is
    None for an answer that was not asked about passages.

    `whole`: it is complete and may be cached. `cached`: it came from the cache, cost nothing and used no tokens;
    `saved_usd` is the cost of the original call (None: unknown) and `cached_from` names that ask: `session` and
    `sequence` (None outside a session), `at`, `call_ms` and `usage`.
    """

    text: str
    model: str
    parameters: JsonObject
    usage: Usage | None
    cost_usd: Decimal | None
    prices: JsonObject | None
    duration_ms: float
    grounding: JsonObject | None
    calls_made: int
    message: JsonObject | None = None
    whole: bool = False
    cached: bool = False
    saved_usd: Decimal | None = None
    cached_from: JsonObject | None = None

    @property
    def output(self) -> JsonObject | str:
        """What is stored as the step's output."""
        return self.text if self.message is None else self.message


def answer(
    project_id: UUID,
    model: ModelName,
    question: str,
    passages: Sequence[Passage],
    parameters: CallParameters,
    listening: Listening | None = None,
    connection: Connection | None = None,
) -> Answered:
    """Return the model's answer about these passages, priced and grounded. `listening` gets it as it is written and can
    end the call.

    `connection` is used if it was looked up already. Raises `ModelFailed`, `Cancelled`, `Unavailable`.
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
    answered = answered_by(model, completion)
    return replace(
        answered,
        parameters=answered.parameters | _of_prompt(rendered, completion),
        grounding=grounding_of(completion.text, passages).model_dump(),
    )


def answered_by(model: ModelName, completion: Completion) -> Answered:
    """Return a model's answer with its price, not grounded."""
    priced = price(model, completion.usage, now(), used=completion.model)
    return Answered(
        text=completion.text,
        model=str(model),
        parameters=_parameters(completion),
        usage=_usage(completion),
        cost_usd=None if priced.cost_usd is None else round(priced.cost_usd, COST_DIGITS),
        prices=priced.prices,
        duration_ms=completion.duration_ms,
        grounding=None,
        calls_made=completion.attempts,
        whole=completion.whole,
    )


def grounding_of(text: str, passages: Sequence[Passage]) -> GroundingOut:
    """Return how well the passages support a text, sentence by sentence."""
    supports = [Support(frame=each.frame, text=each.text) for each in passages]
    return run_in_pool(ground, text, supports)


def prompt_of(question: str, passages: Sequence[Passage], parameters: CallParameters) -> Prompt:
    """Return the prompt for this question about these passages."""
    template = parameters.prompt_template or TEMPLATE
    return render(question, passages, system_prompt=parameters.system_prompt, template=template)


def _of_prompt(rendered: Prompt, completion: Completion) -> JsonObject:
    """Return what is recorded of a prompt that a language model read."""
    facts = {
        "prompt_template": rendered.template,
        "system_prompt": rendered.system_prompt,
        "prompt_sha256": rendered.sha256,
    }
    return {name: value for name, value in facts.items() if value is not None and completion.language_model}


def _parameters(completion: Completion) -> JsonObject:
    facts: JsonObject = {**completion.parameters, "call_ms": round(completion.duration_ms, 3)}
    if not completion.language_model:
        return facts
    facts |= {
        "finish_reason": completion.finish_reason,
        "response_id": completion.response_id,
        "response_model": completion.model,
    }
    if completion.first_text_ms is not None:
        facts["first_text_ms"] = round(completion.first_text_ms, 3)
    if completion.attempts > 1:
        facts["attempts"] = completion.attempts
    if completion.cut_short:
        facts["cut_off"] = True
    if completion.broke_off_after_end:
        facts["broke_off_after_end"] = True
    if completion.not_accepted:
        facts["not_accepted"] = list(completion.not_accepted)
    return {name: value for name, value in facts.items() if value is not None}


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
