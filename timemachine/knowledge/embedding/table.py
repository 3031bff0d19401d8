"""The embedding models: what each is called, what it costs to use, how much it counts beside the words. No Django.

A collection holds a stored name (`NAME` of a model's file, `server:MODEL@DIMENSIONS`); people write `wordllama`, `minilm`
or `server:MODEL`. The semantic weights of the first two were chosen on Cranfield's queries 1 to 100; those of a server are
not measured.
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
    """A model: `name` is stored with every vector, `asked` is what people write, `embed` makes a row of each text.

    `slow`: a put does not wait for it. `semantic_weight`: of its leg in a hybrid find. `batch`: texts embedded and stored
    together.
    """

    name: str
    asked: str
    slow: bool
    semantic_weight: float
    batch: int
    embed: Callable[[Sequence[str]], Vectors]


WORDLLAMA = EmbeddingModel(
    name=wordllama.NAME, asked="wordllama", slow=False, semantic_weight=0.3, batch=500, embed=wordllama.embed
)
MINILM = EmbeddingModel(
    name=minilm.NAME, asked="minilm", slow=True, semantic_weight=0.5, batch=16, embed=minilm.embed
)
_LOCAL = (WORDLLAMA, MINILM)


def named(text: str) -> EmbeddingModel:
    """The model that a stored or written name means, whether or not it can be used here.

    Raises `InvalidInput` (`unknown_embedding_model`) for any other text.
    """
    for model in _LOCAL:
        if text in (model.name, model.asked):
            return model
    if text.startswith(server.PREFIX) and _is_server_model(text):
        return _server_model(text)
    raise InvalidInput(
        f"There is no embedding model {text[:80]!r}; there are wordllama, minilm, and server:MODEL for a model of the "
        "server that EMBEDDING_SERVER_URL names.",
        code="unknown_embedding_model",
        field="model",
    )


def why_not(model: EmbeddingModel) -> str | None:
    """What is missing for the model to be used here, as a sentence; None where nothing is, as far as can be seen at once."""
    if model.name == MINILM.name and not minilm.FILES.are_installed():
        return f"{minilm.FILES.package} is not installed. {minilm.FILES.advice}"
    if model.name.startswith(server.PREFIX) and not is_configured():
        return NO_SERVER
    return server.too_long(model.name) if model.name.startswith(server.PREFIX) else None


def local_models() -> tuple[EmbeddingModel, ...]:
    """The models that need no server, whether or not they can be used here."""
    return _LOCAL


def require_usable(model: EmbeddingModel) -> None:
    """Raise `Unavailable` (`no_embeddings`) where something is missing for the model to be used here."""
    missing = why_not(model)
    if missing:
        raise Unavailable(
            f"The embedding model {model.asked} cannot be used: {missing}",
            code="no_embeddings",
            model=model.name,
        )


def settled(model: EmbeddingModel) -> EmbeddingModel:
    """The model with its full name: a server is asked for its dimensions where they are unknown. Raises `ModelFailed`."""
    return named(server.fixed_name(model.name)) if model.name.startswith(server.PREFIX) else model


def is_settled(model: EmbeddingModel) -> bool:
    """Whether vectors can be stored under the model's name: it is known how long they are."""
    return not model.name.startswith(server.PREFIX) or server.dimensions_of(model.name) is not None


def probe(model: EmbeddingModel) -> None:
    """Have a short text embedded, so that it shows whether the model works at all. Raises `Unavailable`, `ModelFailed`."""
    model.embed([server.PROBE])


def question_vector(model: EmbeddingModel, text: str) -> list[float]:
    """What is looked for, as a vector; empty where there is nothing to see in it. Raises `Unavailable`, `ModelFailed`."""
    vector = model.embed([text[:LONGEST_QUESTION]])[0]
    found: list[float] = vector.tolist() if vector.any() else []
    return found


def _server_model(text: str) -> EmbeddingModel:
    return EmbeddingModel(
        name=text,
        asked=server.asked_name(text),
        slow=True,
        semantic_weight=0.5,
        batch=server.AT_ONCE,
        embed=partial(server.embed, text),
    )


def _is_server_model(text: str) -> bool:
    model = text.removeprefix(server.PREFIX)
    return bool(model) and len(text) <= LONGEST_NAME and model.isprintable() and " " not in model
