"""Vectors of a server's embedding model, under the name `server:MODEL@DIMENSIONS`. No Django.

How many dimensions there are only the server knows: until it was asked, the name is `server:MODEL`. A text is read in windows
of at most 2,000 characters, which every common embedding model sees whole, and is their mean, scaled to length 1.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from timemachine.base.errors import Unavailable
from timemachine.providers.embedding_server import PROVIDER

Vectors = NDArray[np.float32]

PREFIX = f"{PROVIDER}:"
WINDOW = 2_000
AT_ONCE = 64
"""Windows in one request."""


def dimensions_of(name: str) -> int | None:
    """How many dimensions the name fixes; None where it fixes none yet."""
    _, at, digits = name.rpartition("@")
    return int(digits) if at and digits.isascii() and digits.isdigit() else None


def asked_name(name: str) -> str:
    """The name without its dimensions: what an operator writes."""
    return name if dimensions_of(name) is None else name.rpartition("@")[0]


def fixed_name(name: str) -> str:
    """The name with its dimensions; the server is asked where they are not known. Raises `Unavailable`, `ModelFailed`."""
    if dimensions_of(name) is not None:
        return name
    return f"{name}@{_embeddings(name, ['How long is a vector?']).shape[1]}"


def embed(name: str, texts: Sequence[str]) -> Vectors:
    """One row per text, each of length 1, or all zeros where there is nothing to see. `name` fixes the dimensions.

    Raises `ModelFailed`, and `Unavailable` (`no_embeddings`) where the server now answers vectors of another length.
    """
    rows = np.zeros((len(texts), dimensions_of(name) or 0), dtype=np.float32)
    windows = [(row, window) for row, text in enumerate(texts) for window in _windows(text)]
    for first in range(0, len(windows), AT_ONCE):
        part = windows[first : first + AT_ONCE]
        for (row, _), vector in zip(part, _asked(name, [text for _, text in part]), strict=True):
            rows[row] += vector
    return _scaled(rows)


def _windows(text: str) -> list[str]:
    text = text.strip()
    count = -(-len(text) // WINDOW)
    bounds = [len(text) * number // count for number in range(count + 1)] if count else [0]
    parts = (text[first:end] for first, end in pairwise(bounds))
    return [part for part in parts if part.strip()]


def _asked(name: str, texts: Sequence[str]) -> Vectors:
    found = _embeddings(name, texts)
    if found.shape[1] != dimensions_of(name):
        raise Unavailable(
            f"The embedding server answers {found.shape[1]} numbers where {name} has {dimensions_of(name)}: it is another "
            f"model now. Re-embed the collection with {asked_name(name)}.",
            code="no_embeddings",
        )
    return _scaled(found)


def _embeddings(name: str, texts: Sequence[str]) -> Vectors:
    from timemachine.providers.openai_embeddings import (
        embeddings,
    )  # with its HTTP client it takes half a second

    return np.array(embeddings(asked_name(name).removeprefix(PREFIX), texts), dtype=np.float32)


def _scaled(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=rows, where=lengths > 0)
    return scaled
