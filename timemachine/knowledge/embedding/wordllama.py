"""Static word embeddings without a network: those that the `wordllama` wheel carries. No Django.

A text becomes the mean of its tokens' vectors, scaled to length 1, so that the inner product of two is their cosine.
The package itself is not imported: its own loader looks in the wrong folder and then downloads, it pads a whole batch to
its longest text, and importing it configures logging. Its two data files are all that is needed.

What the embedding sees of a text is its first `SEEN_CHARACTERS` characters; what lies behind them is found by its words
only. A text in which there is nothing to see (empty, or white space) has the zero vector, which is near to nothing and for
which a cosine is undefined: NULL is stored for it.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.embedding.files import ModelFiles

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors = NDArray[np.float32]

NAME = "wordllama-l2-supercat-256@64b47a2d"
"""Stored with every vector. The digits begin the SHA-256 of the weights."""
DIMENSIONS = 256
TOKENIZER_NAME = "wordllama l2_supercat (the tokens of Llama 2)"
"""By what `count_tokens` counts; a provider's own tokenizer counts otherwise."""
SEEN_CHARACTERS = 16_384
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
FILES = ModelFiles(
    package="wordllama",
    model=NAME,
    sha256={
        WEIGHTS: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
        TOKENIZER: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    },
    advice="Install wordllama 0.4.0.post1 again.",
)
_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    tokenizer: "Tokenizer"
    weights: Vectors


def embed(texts: Sequence[str]) -> Vectors:
    """One row per text, `(len(texts), 256)` float32, each of length 1, or all zeros where there is nothing to see.

    The same text gives the same bytes, alone or among others. Safe to call from several threads; the first call of a
    process loads the model (0.2 s). Raises `Unavailable` where the files are missing or are not those of `NAME`.
    """
    model = _model()
    rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in enumerate(texts):
        rows[row] = _vector(model, text)
    return rows


def count_tokens(text: str) -> int:
    """How many tokens the whole text has by the tokenizer of `TOKENIZER_NAME`. Raises `Unavailable` as `embed` does."""
    return len(_model().tokenizer.encode(searchable(text), add_special_tokens=False).ids)


def _vector(model: _Model, text: str) -> Vectors:
    seen = searchable(text[:SEEN_CHARACTERS]).strip()
    tokens = model.tokenizer.encode(seen, add_special_tokens=False).ids if seen else []
    if not tokens:
        return np.zeros(DIMENSIONS, dtype=np.float32)
    mean = model.weights[tokens].mean(axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    scaled: Vectors = mean / np.float32(length) if length else mean
    return scaled


def _model() -> _Model:
    with _lock:  # a cache alone would let two threads load it twice
        return _load()


@cache
def _load() -> _Model:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    weights = load_file(FILES.path(WEIGHTS))["embedding.weight"].astype(np.float32)
    tokenizer = Tokenizer.from_file(str(FILES.path(TOKENIZER)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Model(tokenizer=tokenizer, weights=np.ascontiguousarray(weights))
