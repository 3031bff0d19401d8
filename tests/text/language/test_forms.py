import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.language.words import root, stem


@pytest.mark.parametrize(
    "forms",
    [
        "send sends sent sending",
        "reduce reduces reducing reduction",
        "circulate circulation circulatory",
        "recommend recommended recommendation",
        "depend dependent dependency dependencies",
        "employ employs employer employment",
        "child children",
        "foot feet",
        "chemical chemically",
        "regulate regulator regulation",
    ],
)
def test_the_forms_of_a_word_have_one_root(forms: str) -> None:
    assert len({root(stem(form)) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "words", ["employer employee", "contract contrast", "sell buy", "foot food", "act ant"]
)
def test_unrelated_words_have_different_roots(words: str) -> None:
    one, other = (root(stem(word)) for word in words.split())
    assert one != other


@pytest.mark.parametrize("key", ["#12", "~not", "parser.js:42", "日"])
def test_text_other_than_words_is_unchanged(key: str) -> None:
    assert root(key) == key


@settings(deadline=None)
@given(st.text(alphabet="abcdefghilmnorstuvy", min_size=1, max_size=14))
def test_a_root_is_never_empty(word: str) -> None:
    assert root(stem(word))
