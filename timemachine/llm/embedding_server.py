"""The operator's embedding server, which has OpenAI's protocol.

`EMBEDDING_SERVER_URL` is its address and `EMBEDDING_SERVER_API_KEY` its key, if it needs one. The operator chooses it,
so it can be in a private network.
"""

import os
from http import HTTPStatus

from timemachine.core.pure.errors import ModelFailed, Unavailable
from timemachine.llm.pure.catalogue import Connection, user_in

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
    key = os.environ.get("EMBEDDING_SERVER_API_KEY", "").strip()
    return Connection(protocol="openai", base_url=_address(), api_key=key or None)


def _address() -> str:
    return os.environ.get(URL_VARIABLE, "").strip().rstrip("/")
