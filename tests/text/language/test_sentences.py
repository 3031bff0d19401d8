import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.language.sentences import sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


@settings(deadline=None)
@given(st.text())
def test_sentences_joined_are_the_text(text: str) -> None:
    assert "".join(texts(text)) == text


@settings(deadline=None)
@given(st.text(alphabet=" \n\t\r.!?。1)-aB\"'’“”«»\u2028\x00\U0001f600\ud800é日", max_size=60))
def test_every_sentence_has_correct_offsets(text: str) -> None:
    found = sentences(text)
    assert [text[each.start : each.end] for each in found] == [each.text for each in found]
    assert [each.start for each in found] == [0, *[each.end for each in found][:-1]][: len(found)]


@settings(deadline=None)
@given(st.text(alphabet=" \n.aB1)-", max_size=60))
def test_only_a_blank_text_has_a_blank_sentence(text: str) -> None:
    assert all(each.body for each in sentences(text)) or not text.strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n ", ["  \n "]),
        ("One. Two.", ["One. ", "Two."]),
        ("Dr. Smith met J. Doe on Jan. 5. He left.", ["Dr. Smith met J. Doe on Jan. 5. ", "He left."]),
        ("It cost $2.5 billion. Really!", ["It cost $2.5 billion. ", "Really!"]),
        ("a line\nanother line", ["a line\n", "another line"]),
        ("one\n\n  \ntwo", ["one\n\n  \n", "two"]),
        ("def f():\n    return 1\n", ["def f():\n", "    return 1\n"]),
        ("1. First item. 2. Second item.", ["1. First item. ", "2. Second item."]),
        ("- \nitem", ["- \nitem"]),
        ("end.\n1.", ["end.\n", "1."]),
        ("日本語です。はい。", ["日本語です。", "はい。"]),
        ("Mr. Ünal came. Été.", ["Mr. Ünal came. ", "Été."]),
        ("٣ «ok» it’s ǅ. Then…", ["٣ «ok» it’s ǅ. ", "Then…"]),
        ("A\ud800 bit. Some\x00.", ["A\ud800 bit. ", "Some\x00."]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_a_body_has_no_white_space_after_it() -> None:
    assert [each.body for each in sentences(" a b. \n c\n")] == [" a b.", " c"]


@pytest.mark.parametrize(
    "unit",
    [
        "The deal closed. Dr. Smith said no. ",
        "日本語です。はい、そうです。",
        "é",
        "'",
        '"',
        "a'b' ",
        "1. ",
        "\n",
        "A. ",
    ],
)
def test_any_long_text_is_split_in_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    assert "".join(texts(text)) == text
    assert time.process_time() - started < 4
