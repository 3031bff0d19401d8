"""Asking a model once: through its provider's adapter, repeated where a failure may pass, or from the passages alone."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from random import SystemRandom
from time import perf_counter, sleep

from timemachine.base.errors import ModelFailed
from timemachine.providers import extractive
from timemachine.providers.catalogue import Connection, ModelName, sentences_of
from timemachine.providers.completion import Completion, Message, ModelRequest, TokenUsage
from timemachine.providers.parameters import parameter_not_taken, parameters_for
from timemachine.providers.table import Protocol

__all__ = ["Completion", "Connection", "Message", "ModelName", "ModelRequest", "TokenUsage", "complete"]

RETRIES = 2
LONGEST_WAIT_SECONDS = 20.0

_random = SystemRandom()


def complete(request: ModelRequest) -> Completion:
    """The model's answer.

    A call is repeated at most twice, after a wait with jitter, where the provider is busy (408, 409, 429), broken (5xx) or
    out of reach; never after a timeout, which may have been billed. It is repeated at once without a temperature or seed
    that the provider says this model does not take. Raises `ModelFailed`, its facts with `attempts`.
    """
    if request.connection.protocol == "local":
        return _extract(request)
    return _ask(request)


def _ask(request: ModelRequest) -> Completion:
    send = _adapter(request.connection.protocol)
    left_out: frozenset[str] = frozenset()
    attempts = retries = 0
    while True:
        attempts += 1
        try:
            return replace(send(request, left_out), attempts=attempts)
        except ModelFailed as failed:
            refused = _parameter_not_taken(failed, request, left_out)
            wait = 0.0 if refused else _wait(failed, retries)
            if wait is None:
                raise _last(failed, request, attempts) from failed
        if refused:
            left_out |= {refused}
        else:
            retries += 1
            sleep(wait)


def _adapter(protocol: Protocol) -> Callable[[ModelRequest, AbstractSet[str]], Completion]:
    # imported at the first call: with their HTTP client they take half a second
    if protocol == "anthropic":
        from timemachine.providers import anthropic_messages

        return anthropic_messages.send
    from timemachine.providers import openai_chat

    return openai_chat.send


def _parameter_not_taken(
    failed: ModelFailed, request: ModelRequest, left_out: AbstractSet[str]
) -> str | None:
    if failed.facts.get("status") not in {400, 422}:
        return None
    return parameter_not_taken(failed.message, parameters_for(request, left_out))


def _wait(failed: ModelFailed, retries: int) -> float | None:
    if retries >= RETRIES or not failed.facts.get("retryable") or failed.code == "model_timed_out":
        return None
    asked = failed.facts.get("retry_after_seconds")
    if asked is None:
        return float(2**retries) * _random.uniform(0.25, 0.75)
    return float(asked) + _random.uniform(0, 0.25) if asked <= LONGEST_WAIT_SECONDS else None


def _last(failed: ModelFailed, request: ModelRequest, attempts: int) -> ModelFailed:
    known = {"provider": request.model.provider, "model": str(request.model), "status": None}
    return ModelFailed(failed.message, code=failed.code, **{**known, **failed.facts, "attempts": attempts})


def _extract(request: ModelRequest) -> Completion:
    limit = sentences_of(request.model)
    started = perf_counter()
    extract = extractive.extract(request.question, request.passages, limit)
    return Completion(
        text=extract.text,
        usage=None,
        model=request.model.model,
        finish_reason=None,
        response_id=None,
        duration_ms=(perf_counter() - started) * 1000,
        parameters={"sentences": limit},
        language_model=False,
    )
