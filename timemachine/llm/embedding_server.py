"""The operator's embedding server: any that speaks OpenAI's protocol.

`EMBEDDING_SERVER_URL` names it, `EMBEDDING_SERVER_API_KEY` is its key where it wants one. It is the operator's own choice,
so its address may lie in a private network.
"""

import os
from http import HTTPStatus

from timemachine.core.pure.errors import ModelFailed, Unavailable
from timemachine.llm.pure.catalogue import Connection, user_in

PROVIDER = "server"
URL_VARIABLE = "EMBEDDING_SERVER_URL"
_REFUSALS = frozenset({400, 413, 422})


def is_configured() -> bool:
    """Whether the operator named an embedding server."""
    return bool(_address())


def refuses_texts(failed: ModelFailed) -> bool:
    """Whether the server refused what it was sent, so that fewer or shorter texts may pass.

    llama.cpp answers 500 to a text of more tokens than its batch, and says that it is too large.
    """
    status = failed.facts.get("status")
    return status in _REFUSALS or (
        status == HTTPStatus.INTERNAL_SERVER_ERROR and "too large" in failed.message
    )


def connection(model: str) -> Connection:
    """How the server is called. Raises `Unavailable` (`no_embeddings`) where none is configured."""
    if not is_configured():
        raise Unavailable(
            f"The embedding model {PROVIDER}:{model} cannot be used: no embedding server is configured. Set "
            "EMBEDDING_SERVER_URL, like http://localhost:11434/v1, and restart.",
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
