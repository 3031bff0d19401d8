"""Vectors of a server's embedding model, under the name `server:MODEL@DIMENSIONS`. No Django.

How many dimensions there are only the server knows: until it was asked, the name is `server:MODEL`. A text is read in windows
of at most 2,000 characters and is their mean, scaled to length 1. Not every server takes as much (512 tokens are 2,000
characters of English, and a few hundred of symbols): a window that is refused is the mean of its halves, down to 500 characters.
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
"""A window of no more characters is not halved."""
MOST_DIMENSIONS = 16_000
"""What pgvector's half-precision vectors hold."""
PROBE = "How long is a vector?"
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
    """The name with its dimensions; the server is asked where they are not known.

    Raises `ModelFailed`, and `Unavailable` (`no_embeddings`) for vectors that are too long to be kept.
    """
    fixed = name if dimensions_of(name) is not None else f"{name}@{_embeddings(name, [PROBE]).shape[1]}"
    missing = too_long(fixed)
    if missing:
        raise Unavailable(
            f"The embedding model {name} cannot be used: {missing}", code="no_embeddings", model=fixed
        )
    return fixed


def too_long(name: str) -> str | None:
    """Why vectors of as many dimensions as the name fixes cannot be kept, as a sentence; None where they can."""
    dimensions = dimensions_of(name) or 0
    if dimensions <= MOST_DIMENSIONS:
        return None
    return f"its vectors have {dimensions:,} dimensions, and at most {MOST_DIMENSIONS:,} can be kept. Choose another model."


def embed(name: str, texts: Sequence[str]) -> Vectors:
    """One row per text, each of length 1, or all zeros where there is nothing to see. `name` fixes the dimensions.

    One text alone is asked for in fewer and shorter windows where it is refused; several are refused together.
    Raises `ModelFailed`, and `Unavailable` (`no_embeddings`) where the server now answers vectors of another length.
    """
    rows = np.zeros((len(texts), dimensions_of(name) or 0), dtype=np.float32)
    windows = [(row, window) for row, text in enumerate(texts) for window in _windows(text, WINDOW)]
    ask = _asked if len(texts) > 1 else _asked_by_halves
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


def _asked(name: str, texts: Sequence[str]) -> Vectors:
    found = _embeddings(name, texts)
    if found.shape[1] != dimensions_of(name):
        raise Unavailable(
            f"The embedding server answers {found.shape[1]} numbers where {name} has {dimensions_of(name)}: it is another "
            f"model now. Re-embed the collection with {asked_name(name)}.",
            code="no_embeddings",
        )
    return _scaled(found)


def _asked_by_halves(name: str, windows: Sequence[str]) -> Vectors:
    """One row per window; those that are refused together are asked for apart, and one alone as the mean of its halves."""
    try:
        return _asked(name, windows)
    except ModelFailed as failed:
        alone = len(windows) == 1
        if not refuses_texts(failed) or (alone and len(windows[0]) <= SHORTEST_WINDOW):
            raise
    if alone:
        halves = _windows(windows[0], -(-len(windows[0]) // 2))
        return _scaled(_asked_by_halves(name, halves).sum(axis=0, keepdims=True))
    middle = len(windows) // 2
    return np.vstack([_asked_by_halves(name, windows[:middle]), _asked_by_halves(name, windows[middle:])])


def _embeddings(name: str, texts: Sequence[str]) -> Vectors:
    from timemachine.llm.openai_embeddings import embeddings  # with its HTTP client it takes half a second

    return np.array(embeddings(asked_name(name).removeprefix(PREFIX), texts), dtype=np.float32)


def _scaled(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=rows, where=lengths > 0)
    return scaled
