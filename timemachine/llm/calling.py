"""Calls a model: through its provider's adapter, with retries, or from the passages alone."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from random import SystemRandom
from time import monotonic

from timemachine.core.pure.errors import Cancelled, ModelFailed
from timemachine.core.pure.process_pool import run_in_pool
from timemachine.llm import failure
from timemachine.llm.parameters import parameter_rejected, parameters_for, streaming_rejected
from timemachine.llm.pure import extractive
from timemachine.llm.pure.cancellation import Listening, RetryWait
from timemachine.llm.pure.catalogue import sentences_of
from timemachine.llm.pure.completion import LONGEST_TEXT, Completion, ModelRequest
from timemachine.llm.table import Protocol

LONGEST_WAIT_SECONDS = 20.0
MAY_BE_BILLED = frozenset({"model_timed_out", "model_interrupted", "cancelled"})
"""Failures after which a call is not retried, because it may have been billed."""
NOT_SENT = frozenset({"model_unreachable", "address_not_allowed"})
"""Failures of an attempt before any of the question was sent."""
REFUSED_STATUSES = frozenset(range(400, 500)) - {408, 409, 499}
"""With these, a provider refuses a request before a model gets it, and does not bill it. The others can come later."""

_random = SystemRandom()


def complete(request: ModelRequest, listening: Listening | None = None) -> Completion:
    """Return the model's answer. `listening` gets it while it is written, is notified of each wait, and can cancel the
    call.

    A call is retried at most `request.retries` times, after a wait with jitter, if the provider is busy (408, 409,
    429), broken (5xx) or cannot be connected to. It is never retried after a timeout or once the answer began, as it
    may have been billed. If the provider rejects the temperature, the seed or streaming, the call is repeated
    immediately without it. No attempt begins later than `request.whole_seconds` times `request.retries` + 1 after the
    first, which limits the duration of the call.

    Raises:
        ModelFailed: The last attempt failed. Its facts have `attempts`, `unsent` if no attempt sent the question, and
            `refused` if the provider refused every attempt that did, so that nothing was billed.
        Cancelled: The call was cancelled.
    """
    listener = listening or Listening()
    try:
        answered = _extract(request) if request.connection.protocol == "local" else _ask(request, listener)
    finally:
        listener.on_finished()
    if answered.first_text_ms is None and answered.text:
        listener.on_text(answered.text)
    return answered


def _ask(request: ModelRequest, listening: Listening) -> Completion:
    send = _adapter(request.connection.protocol)
    left_out: frozenset[str] = frozenset()
    attempts = retries = 0
    sent = accepted = False
    latest = monotonic() + request.whole_seconds * (request.retries + 1)
    while True:
        attempts += 1
        try:
            completion = send(request, left_out, listening)
            if len(completion.text) > LONGEST_TEXT:
                raise failure.too_long(request)
            return replace(completion, attempts=attempts)
        except ModelFailed as failed:
            if not (failed.code in NOT_SENT or failed.facts.get("unsent")):
                sent, accepted = True, accepted or failed.facts.get("status") not in REFUSED_STATUSES
            refused = _rejected(failed, request, left_out)
            why = failure.summary(failed)
            wait = 0.0 if refused else wait_before_repeating(failed, retries, request.retries)
            if wait is None or monotonic() + wait > latest:
                facts = {} if accepted else {"refused": True} if sent else {"unsent": True}
                raise _last(failed, request, attempts, facts) from failed
        if refused:
            left_out |= {refused}
        else:
            retries += 1
            listening.on_wait(RetryWait(why=why, seconds=wait, attempt=attempts + 1))
            listening.cancellation.pause(wait)


def _adapter(protocol: Protocol) -> Callable[[ModelRequest, AbstractSet[str], Listening], Completion]:
    # imported at the first call, because the HTTP client takes a moment
    if protocol == "anthropic":
        from timemachine.llm import anthropic_messages

        return anthropic_messages.send
    from timemachine.llm import openai_chat

    return openai_chat.send


def _rejected(failed: ModelFailed, request: ModelRequest, left_out: AbstractSet[str]) -> str | None:
    if failed.facts.get("status") not in {400, 422}:
        return None
    error = failed.facts.get("provider_error", {})
    words = f"{error.get('message', '')} {error.get('param', '')}"
    taken = parameters_for(request, left_out)
    return parameter_rejected(words, taken) or streaming_rejected(words, left_out)


def wait_before_repeating(failed: ModelFailed, retries: int, most: int) -> float | None:
    """Return the seconds to wait before retrying a failed call, with jitter. None if it must not be retried."""
    if retries >= most or not failed.facts.get("retryable") or failed.code in MAY_BE_BILLED:
        return None
    requested = failed.facts.get("retry_after_seconds")
    if requested is None:
        return float(2**retries) * _random.uniform(0.25, 0.75)
    return float(requested) + _random.uniform(0, 0.25) if requested <= LONGEST_WAIT_SECONDS else None


def _last(
    failed: ModelFailed, request: ModelRequest, attempts: int, facts: Mapping[str, bool]
) -> ModelFailed:
    known = {"provider": request.model.provider, "model": str(request.model), "status": None}
    found = {**known, **failed.facts, "attempts": attempts, **facts}
    tried = (
        f" It was attempted {attempts} times." if attempts > 1 and not isinstance(failed, Cancelled) else ""
    )
    return type(failed)(f"{failed.message}{tried}", code=failed.code, **found)


def _extract(request: ModelRequest) -> Completion:
    limit = sentences_of(request.model)
    text, took = run_in_pool(extractive.timed_extract, request.question, request.passages, limit)
    return Completion(
        text=text,
        usage=None,
        model=request.model.model,
        finish_reason=None,
        response_id=None,
        duration_ms=took,
        parameters={"sentences": limit},
        language_model=False,
    )
