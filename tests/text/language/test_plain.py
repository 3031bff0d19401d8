import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.language.plain import plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**The deal** closed — for $2.5 billion!", "the deal closed for $ 2.5 billion"),
        ("# Head\n- a_b and _emph_ `code`", "head a_b and emph code"),
        ("1,000,000; -5 – 3%", "1000000 -5 3 %"),
        ("> quote\n1. state-of-the-art a/b it’s", "quote state-of-the-art a/b it's"),
        ("Yes! 👍", "yes 👍"),
        ("5 < 6 & ﬁ", "5 < 6 & fi"),
        ("...", ""),
    ],
)
def test_formatting_does_not_count(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("one", "other"), [("2.5", "25"), ("-5", "5"), ("5%", "5"), ("$5", "5"), ("a/b", "ab"), ("👍", "👎")]
)
def test_texts_with_different_meanings_stay_different(one: str, other: str) -> None:
    assert plain(one) != plain(other)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_plain_text_has_its_white_space_collapsed(text: str) -> None:
    assert plain(text) == " ".join(plain(text).split())
