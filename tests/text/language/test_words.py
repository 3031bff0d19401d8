import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.language.words import FUNCTION_WORDS, WORD, folded, stem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop at 2nd_place", ["Don't", "stop", "at", "2nd", "place"]),
        ("the U.S. economy", ["the", "U.S.", "economy"]),
        ("東京 is", ["東", "京", "is"]),
        ("", []),
    ],
)
def test_words_are_found_in_any_script(text: str, expected: list[str]) -> None:
    assert [found[0] for found in WORD.finditer(text)] == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("Acme's", "acme"), ("Acme’s", "acme"), ("U.S.", "us"), ("ＦＵＬＬ", "full"), ("ÉTÉ", "été")],
)
def test_a_folded_word_has_no_case_possessive_or_dots(word: str, expected: str) -> None:
    assert folded(word) == expected


@pytest.mark.parametrize(
    "forms",
    [
        "close closes closed closing",
        "plan plans planned planning",
        "study studies studied",
        "play plays played",
        "price prices",
    ],
)
def test_the_forms_of_a_word_share_a_stem(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


@pytest.mark.parametrize(
    "words", ["class clas", "run rung", "bus buses2", "sing s", "is as", "business busines"]
)
def test_different_words_keep_different_stems(words: str) -> None:
    one, other = words.split()
    assert stem(one) != stem(other)


@settings(deadline=None)
@given(st.text(max_size=20))
def test_a_stem_is_never_empty_for_a_word(word: str) -> None:
    assert bool(stem(word)) == bool(word)


@pytest.mark.parametrize(
    "word", ["not", "no", "never", "none", "without", "more", "less", "before", "after", "only", "all"]
)
def test_words_that_reverse_a_claim_are_not_function_words(word: str) -> None:
    assert word not in FUNCTION_WORDS
