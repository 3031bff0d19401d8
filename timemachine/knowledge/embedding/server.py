"""Vectors of an embedding server's model, named `server:MODEL@DIMENSIONS`. No Django.

Until the server was asked for the number of dimensions, the name is `server:MODEL`. A text is read in windows
of at most 2,000 characters; its vector is their mean, scaled to length 1. Some servers take less (512 tokens
are 2,000 characters of English, and a few hundred of symbols): a refused window is replaced by the mean of its
halves, down to 500 characters.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from timemachine.core.pure.errors import ModelFailed, Unavailable
from timemachine.llm.embedding_server import PROVIDER, refuses_texts

Vectors = NDArray[np.float32]

PREFIX = f"{PROVIDER}:"
WINDOW = 2_000
SHORTEST_WINDOW = 500
"""Windows of this length or less are not halved."""
MOST_DIMENSIONS = 16_000
"""The limit of pgvector's half-precision vectors."""
PROBE = "How long is a vector?"
AT_ONCE = 64
"""Windows per request."""


def dimensions_of(name: str) -> int | None:
    """Return the number of dimensions in the name, or None if it has none."""
    _, at, digits = name.rpartition("@")
    return int(digits) if at and digits.isascii() and digits.isdigit() else None


def name_without_dimensions(name: str) -> str:
    """Return the name without its dimensions, as people write it."""
    return name if dimensions_of(name) is None else name.rpartition("@")[0]


def name_with_dimensions(name: str) -> str:
    """Return the name with its dimensions; if they are unknown, asks the server.

    Raises `ModelFailed`, and `Unavailable` (`no_embeddings`) for vectors that are too long to store.
    """
    fixed = name if dimensions_of(name) is not None else f"{name}@{_embeddings(name, [PROBE]).shape[1]}"
    missing = too_long(fixed)
    if missing:
        raise Unavailable(
            f"The embedding model {name} cannot be used: {missing}", code="no_embeddings", model=fixed
        )
    return fixed


def too_long(name: str) -> str | None:
    """Return why vectors with the name's dimensions cannot be stored, as a sentence, or None if they can."""
    dimensions = dimensions_of(name) or 0
    if dimensions <= MOST_DIMENSIONS:
        return None
    return (
        f"its vectors have {dimensions:,} dimensions; the limit is {MOST_DIMENSIONS:,}. Choose another model."
    )


def embed(name: str, texts: Sequence[str]) -> Vectors:
    """Return one row per text, each of length 1, or all zeros for an empty text. `name` includes the dimensions.

    A single text that is refused is tried again in fewer and shorter windows; several texts are refused as a
    whole. Raises `ModelFailed`, and `Unavailable` (`no_embeddings`) if the server returns vectors of another
    length.
    """
    rows = np.zeros((len(texts), dimensions_of(name) or 0), dtype=np.float32)
    windows = [(row, window) for row, text in enumerate(texts) for window in _windows(text, WINDOW)]
    ask = _embed_windows if len(texts) > 1 else _embed_by_halves
    for first in range(0, len(windows), AT_ONCE):
        part = windows[first : first + AT_ONCE]
        for (row, _), vector in zip(part, ask(name, [text for _, text in part]), strict=True):
            rows[row] += vector
    return _scaled(rows)


def _windows(text: str, longest: int) -> list[str]:
    text = text.strip()
    count = -(-len(text) // longest)
    bounds = [len(text) * number // count for number in range(count + 1)] if count else [0]
    parts = (text[first:end] for first, end in pairwise(bounds))
    return [part for part in parts if part.strip()]


def _embed_windows(name: str, texts: Sequence[str]) -> Vectors:
    found = _embeddings(name, texts)
    if found.shape[1] != dimensions_of(name):
        raise Unavailable(
            f"The embedding server returns {found.shape[1]} dimensions, but {name} has {dimensions_of(name)}: its model has "
            f"changed. Re-embed the collection with {name_without_dimensions(name)}.",
            code="no_embeddings",
        )
    return _scaled(found)


def _embed_by_halves(name: str, windows: Sequence[str]) -> Vectors:
    """Return one row per window. Refused windows are sent again in halves; a single refused window is the mean of
    its halves.
    """
    try:
        return _embed_windows(name, windows)
    except ModelFailed as failed:
        alone = len(windows) == 1
        if not refuses_texts(failed) or (alone and len(windows[0]) <= SHORTEST_WINDOW):
            raise
    if alone:
        halves = _windows(windows[0], -(-len(windows[0]) // 2))
        return _scaled(_embed_by_halves(name, halves).sum(axis=0, keepdims=True))
    middle = len(windows) // 2
    return np.vstack([_embed_by_halves(name, windows[:middle]), _embed_by_halves(name, windows[middle:])])


def _embeddings(name: str, texts: Sequence[str]) -> Vectors:
    from timemachine.llm.embedding_server import embeddings  # importing its HTTP client takes half a second

    return np.array(embeddings(name_without_dimensions(name).removeprefix(PREFIX), texts), dtype=np.float32)


def _scaled(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=rows, where=lengths > 0)
    return scaled
