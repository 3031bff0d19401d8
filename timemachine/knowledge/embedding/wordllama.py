"""Static word embeddings from the `wordllama` wheel, without network access. No Django.

A text's vector is the mean of its tokens' vectors, scaled to length 1, so that the inner product of two is
their cosine. The package itself is not imported, only its two data files are used: its loader looks in the
wrong folder and then downloads, it pads a batch to its longest text, and importing it configures logging.

Only the first `SEEN_CHARACTERS` characters of a text are embedded; the rest can be found by its words only. A
text without tokens (empty, or white space) has the zero vector, for which a cosine is undefined. NULL is stored
for it.
"""

import json
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
"""The tokenizer of `count_tokens`. A provider's own tokenizer may count differently."""
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
    weights: NDArray[np.float16]


def embed(texts: Sequence[str]) -> Vectors:
    """Return one float32 row per text, `(len(texts), 256)`, each of length 1, or all zeros for a text without
    tokens.

    The same text always gives the same bytes. Safe to call from several threads; the first call of a process
    loads the model (0.2 s). Raises `Unavailable` if the files are missing or are not those of `NAME`.
    """
    model = _model()
    rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in enumerate(texts):
        rows[row] = _vector(model, text)
    return rows


def count_tokens(text: str) -> int:
    """Return the number of tokens of the complete text by the tokenizer of `TOKENIZER_NAME`. Raises `Unavailable`
    as `embed` does.
    """
    return len(_model().tokenizer.encode(searchable(text), add_special_tokens=False).ids)


def _vector(model: _Model, text: str) -> Vectors:
    seen = searchable(text[:SEEN_CHARACTERS]).strip()
    tokens = model.tokenizer.encode(seen, add_special_tokens=False).ids if seen else []
    if not tokens:
        return np.zeros(DIMENSIONS, dtype=np.float32)
    mean = model.weights[tokens].astype(np.float32).mean(axis=0)
    length = float(np.linalg.norm(mean))
    scaled: Vectors = mean / np.float32(length) if length else mean
    return scaled


def _model() -> _Model:
    with _lock:  # the cache alone would let two threads load it twice
        return _load()


@cache
def _load() -> _Model:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(FILES.path(TOKENIZER)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Model(tokenizer=tokenizer, weights=_weights())


def _weights() -> NDArray[np.float16]:
    """Return the only array in the file (of the form safetensors), without reading it: all processes share its pages."""
    path = FILES.path(WEIGHTS)
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        shape = json.loads(file.read(size))["embedding.weight"]["shape"]
    return np.memmap(path, dtype=np.float16, mode="r", offset=8 + size, shape=tuple(shape))
