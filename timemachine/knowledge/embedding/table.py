"""The embedding models: their names, their cost and their weight in a hybrid find. No Django.

A collection stores the full name (`NAME` of a model's module, or `server:MODEL@DIMENSIONS`); people write
`wordllama`, `minilm` or `server:MODEL`. The semantic weights of the first two were chosen on Cranfield's
queries 1 to 100; those of servers are not measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from timemachine.core.pure.errors import InvalidInput, Unavailable
from timemachine.knowledge.embedding import minilm, server, wordllama
from timemachine.llm.embedding_server import is_configured

Vectors = NDArray[np.float32]

DEFAULT = "wordllama"
LONGEST_NAME = 190
LONGEST_QUESTION = 16_384
NO_SERVER = "No embedding server is configured; set EMBEDDING_SERVER_URL and restart."


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """A model: `name` is stored with every vector, `short_name` is what people write, `embed` returns one row per text.

    `slow`: a put does not wait for it. `semantic_weight`: of the semantic score in a hybrid find. `batch`:
    texts embedded and stored together.
    """

    name: str
    short_name: str
    slow: bool
    semantic_weight: float
    batch: int
    embed: Callable[[Sequence[str]], Vectors]


WORDLLAMA = EmbeddingModel(
    name=wordllama.NAME,
    short_name="wordllama",
    slow=False,
    semantic_weight=0.3,
    batch=500,
    embed=wordllama.embed,
)
MINILM = EmbeddingModel(
    name=minilm.NAME, short_name="minilm", slow=True, semantic_weight=0.5, batch=16, embed=minilm.embed
)
_LOCAL = (WORDLLAMA, MINILM)


def model_named(text: str) -> EmbeddingModel:
    """Return the model with this stored or written name, whether or not it can be used here.

    Raises `InvalidInput` (`unknown_embedding_model`) for any other text.
    """
    for model in _LOCAL:
        if text in (model.name, model.short_name):
            return model
    if text.startswith(server.PREFIX) and _is_server_model(text):
        return _server_model(text)
    raise InvalidInput(
        f"Unknown embedding model {text[:80]!r}. Use wordllama, minilm, or server:MODEL for a model of the server at "
        "EMBEDDING_SERVER_URL.",
        code="unknown_embedding_model",
        field="model",
    )


def unavailable_reason(model: EmbeddingModel) -> str | None:
    """Return why the model cannot be used here, as a sentence, or None. Does not contact a server."""
    if model.name == MINILM.name and not minilm.FILES.are_installed():
        return f"{minilm.FILES.package} is not installed. {minilm.FILES.advice}"
    if model.name.startswith(server.PREFIX) and not is_configured():
        return NO_SERVER
    return server.too_long(model.name) if model.name.startswith(server.PREFIX) else None


def local_models() -> tuple[EmbeddingModel, ...]:
    """Return the models that need no server, whether or not they can be used here."""
    return _LOCAL


def require_usable(model: EmbeddingModel) -> None:
    """Raise `Unavailable` (`no_embeddings`) if the model cannot be used here."""
    missing = unavailable_reason(model)
    if missing:
        raise Unavailable(
            f"The embedding model {model.short_name} cannot be used: {missing}",
            code="no_embeddings",
            model=model.name,
        )


def with_dimensions(model: EmbeddingModel) -> EmbeddingModel:
    """Return the model with its full name; asks a server for unknown dimensions. Raises `ModelFailed`."""
    return (
        model_named(server.name_with_dimensions(model.name))
        if model.name.startswith(server.PREFIX)
        else model
    )


def has_dimensions(model: EmbeddingModel) -> bool:
    """Return whether the length of the model's vectors is known, so that they can be stored under its name."""
    return not model.name.startswith(server.PREFIX) or server.dimensions_of(model.name) is not None


def probe(model: EmbeddingModel) -> None:
    """Embed a short text to check that the model works. Raises `Unavailable`, `ModelFailed`."""
    model.embed([server.PROBE])


def query_vector(model: EmbeddingModel, text: str) -> list[float]:
    """Return the vector of a query, or an empty list if it is all zeros. Raises `Unavailable`, `ModelFailed`."""
    vector = model.embed([text[:LONGEST_QUESTION]])[0]
    found: list[float] = vector.tolist() if vector.any() else []
    return found


def _server_model(text: str) -> EmbeddingModel:
    return EmbeddingModel(
        name=text,
        short_name=server.name_without_dimensions(text),
        slow=True,
        semantic_weight=0.5,
        batch=server.AT_ONCE,
        embed=partial(server.embed, text),
    )


def _is_server_model(text: str) -> bool:
    model = text.removeprefix(server.PREFIX)
    return bool(model) and len(text) <= LONGEST_NAME and model.isprintable() and " " not in model
