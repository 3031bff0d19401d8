"""Embeds texts through `/embeddings` of the operator's embedding server."""

from collections.abc import Sequence
from time import sleep
from typing import Any

from timemachine.core.pure.errors import ModelFailed
from timemachine.llm.attempts import Exchange
from timemachine.llm.calling import wait_before_repeating
from timemachine.llm.embedding_server import PROVIDER, connection, refuses_texts
from timemachine.llm.failure import not_understood
from timemachine.llm.openai_chat import client
from timemachine.llm.pure.answer_stream import OpenAIStream
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.completion import ModelRequest
from timemachine.llm.pure.usage import part_of

TIMEOUT_SECONDS = 60.0
_LARGEST = 1e16  # the norm of a vector with larger numbers exceeds single precision


def embeddings(model: str, texts: Sequence[str]) -> list[list[float]]:
    """Return one vector for each text (at least one), all of the same length.

    A failed call is retried at most twice, like every model call, unless the server refused the texts.

    Raises:
        Unavailable: `no_embeddings`: no server is configured.
        ModelFailed: The server refused, failed, or sent an invalid response.
    """
    import openai

    request = ModelRequest(
        model=ModelName(provider=PROVIDER, model=model),
        connection=connection(model),
        question="",
        passages=tuple(texts),
        messages=(),
        timeout_seconds=TIMEOUT_SECONDS,
    )
    body = {"model": model, "input": list(texts)}
    retries = 0
    while True:
        try:
            exchange = Exchange(openai, request, Listening(), OpenAIStream())
            return _vectors(request, exchange.answer(client(openai, request), "/embeddings", body).body)
        except ModelFailed as failed:
            wait = wait_before_repeating(failed, retries, request.retries)
            if wait is None or refuses_texts(failed):
                raise
        sleep(wait)
        retries += 1


def _vectors(request: ModelRequest, body: Any) -> list[list[float]]:
    rows = part_of(body).get("data")
    if not isinstance(rows, list) or len(rows) != len(request.passages):
        raise not_understood(request, "it does not have one embedding for each text.")
    vectors = [_vector(request, part_of(row).get("embedding")) for row in sorted(rows, key=_index)]
    if len({len(vector) for vector in vectors}) != 1:
        raise not_understood(request, "its embeddings differ in length.")
    return vectors


def _index(row: Any) -> int:
    index = part_of(row).get("index")
    return index if isinstance(index, int) else 0  # without an index, they are in the order of the texts


def _vector(request: ModelRequest, found: Any) -> list[float]:
    numbers = found if isinstance(found, list) else []
    if not numbers or not all(isinstance(each, int | float) and abs(each) <= _LARGEST for each in numbers):
        raise not_understood(request, "an embedding is not a list of numbers.")
    return [float(each) for each in numbers]
