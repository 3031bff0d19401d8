"""The operator's embedding server, which has OpenAI's protocol.

`EMBEDDING_SERVER_URL` is its address and `EMBEDDING_SERVER_API_KEY` its key, if it needs one. The operator chooses it,
so it can be in a private network.
"""

import os
from collections.abc import Sequence
from http import HTTPStatus
from time import sleep
from typing import Any

from timemachine.core.pure.errors import ModelFailed, Unavailable
from timemachine.core.pure.secret_settings import secret
from timemachine.llm.attempts import Exchange
from timemachine.llm.calling import wait_before_repeating
from timemachine.llm.failure import not_understood
from timemachine.llm.openai_chat import headers
from timemachine.llm.pure.answer_stream import OpenAIStream
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import Connection, ModelName, user_in
from timemachine.llm.pure.completion import ModelRequest
from timemachine.llm.pure.usage import part_of

PROVIDER = "server"
URL_VARIABLE = "EMBEDDING_SERVER_URL"
_REFUSALS = frozenset({400, 413, 422})


def is_configured() -> bool:
    """Return whether the operator configured an embedding server."""
    return bool(_address())


def refuses_texts(failed: ModelFailed) -> bool:
    """Return whether the server refused the texts, so that fewer or shorter ones may be accepted.

    llama.cpp responds with 500 to a text with more tokens than its batch size, and says that it is too large.
    """
    status = failed.facts.get("status")
    return status in _REFUSALS or (
        status == HTTPStatus.INTERNAL_SERVER_ERROR and "too large" in failed.message
    )


def connection(model: str) -> Connection:
    """Return how to call the server. Raises `Unavailable` (`no_embeddings`) if none is configured."""
    if not is_configured():
        raise Unavailable(
            f"The embedding model {PROVIDER}:{model} cannot be used: no embedding server is configured. Set "
            "EMBEDDING_SERVER_URL, for example to http://localhost:11434/v1, and restart.",
            code="no_embeddings",
        )
    if wrong := user_in(URL_VARIABLE):
        raise Unavailable(
            f"The embedding model {PROVIDER}:{model} cannot be used: {wrong}", code="no_embeddings"
        )
    key = secret("EMBEDDING_SERVER_API_KEY")
    return Connection(protocol="openai", base_url=_address(), api_key=key or None)


def _address() -> str:
    return os.environ.get(URL_VARIABLE, "").strip().rstrip("/")


TIMEOUT_SECONDS = 60.0
_LARGEST = 1e16  # the norm of a vector with larger numbers exceeds single precision


def embeddings(model: str, texts: Sequence[str]) -> list[list[float]]:
    """Return one vector for each text (at least one), all of the same length.

    A failed call is retried at most twice, like every model call, unless the server refused the texts.

    Raises:
        Unavailable: `no_embeddings`: no server is configured.
        ModelFailed: The server refused, failed, or sent an invalid response.
    """
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
            exchange = Exchange(request, Listening(), OpenAIStream())
            return _vectors(request, exchange.answer("/embeddings", headers(request), body).body)
        except ModelFailed as failed:
            wait = wait_before_repeating(failed, retries, request.retries)
            if wait is None or refuses_texts(failed):
                raise
        sleep(wait)
        retries += 1


def _vectors(request: ModelRequest, body: Any) -> list[list[float]]:
    rows = part_of(body).get("data")
    if not isinstance(rows, list) or len(rows) != len(request.passages):
        raise not_understood(request, "it does not have exactly one embedding for each text.")
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
