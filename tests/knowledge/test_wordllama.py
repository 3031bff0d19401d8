"""WordLlama embeddings: the same everywhere, similar for similar meanings, and never from a network."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.knowledge.embedding.wordllama import DIMENSIONS, FILES, NAME, SEEN_CHARACTERS, WEIGHTS, embed

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


def test_every_text_becomes_a_row_of_length_one() -> None:
    vectors = embed(["Refunds take 14 days.", "The sky is blue.", "日本語"])
    assert vectors.shape == (3, DIMENSIONS)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_no_texts_give_no_rows() -> None:
    assert embed([]).shape == (0, DIMENSIONS)


@pytest.mark.parametrize("empty", ["", " ", "\n\t "])
def test_a_blank_text_has_the_zero_vector(empty: str) -> None:
    assert not embed([empty]).any()


def test_a_question_is_nearest_to_the_passage_about_it() -> None:
    question, refund, animal = embed(
        ["How do I get my money back?", "Our refund policy covers payments.", "The cat sat on the mat."]
    )
    assert question @ refund > question @ animal + 0.1


def test_a_text_has_the_same_vector_alone_and_among_longer_ones() -> None:
    texts = ["ok", "word " * 500, "ERR_CONN_RESET in parser.js:42"]
    together = embed(texts)
    assert all(np.array_equal(embed([text])[0], row) for text, row in zip(texts, together, strict=True))


def test_text_after_the_read_characters_changes_nothing() -> None:
    read_part = ("a line of words. " * 2000)[:SEEN_CHARACTERS]
    assert np.array_equal(embed([read_part])[0], embed([read_part + "something else entirely"])[0])
    assert not np.array_equal(embed([read_part])[0], embed([read_part[:-400]])[0])


@given(ANY_TEXT)
@settings(max_examples=200, deadline=None)
def test_no_text_is_refused_and_its_vector_has_length_one_or_zero(text: str) -> None:
    length = float(np.linalg.norm(embed([text])[0]))
    assert length == 0 or abs(length - 1) < 1e-5


def test_threads_that_start_together_get_the_same_vectors() -> None:
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda _: embed(["the same text"])[0], range(32)))
    assert all(np.array_equal(vectors[0], vector) for vector in vectors)


def test_the_vectors_match_those_of_the_package_itself() -> None:
    expected = subprocess.run(
        [sys.executable, "-c", PACKAGE_PROGRAM], capture_output=True, check=True, text=True
    ).stdout
    mine = embed(["Refunds take 14 days", "parser.js:42 broke"])
    assert np.allclose(mine, np.array(json.loads(expected)), atol=1e-6)


PACKAGE_PROGRAM = """
from pathlib import Path
import wordllama
from safetensors.numpy import load_file
from tokenizers import Tokenizer
folder = Path(wordllama.__file__).parent
model = wordllama.WordLlamaInference(
    load_file(folder / "weights/l2_supercat_256.safetensors")["embedding.weight"],
    Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json")),
)
print(model.embed(["Refunds take 14 days", "parser.js:42 broke"], norm=True).tolist())
"""


def test_it_loads_without_a_socket_and_without_importing_the_package() -> None:
    program = (
        "import socket, sys\n"
        "def refuse(*_): raise SystemExit('a socket was opened')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from timemachine.knowledge.embedding.wordllama import embed\n"
        "embed(['hello'])\n"
        "print('wordllama' in sys.modules, 'django' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "False False"), done.stderr


def test_the_name_of_the_model_contains_the_hash_of_its_weights() -> None:
    assert NAME.endswith("@" + FILES.sha256[WEIGHTS][:8])
