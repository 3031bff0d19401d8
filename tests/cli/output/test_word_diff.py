"""Output of `--diff`."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.cli.output.word_diff import MOST_WORDS, difference

MARKS = re.compile(r"\[-|-\]|\{\+|\+\}")
plain = st.text(st.characters(codec="utf-8", exclude_characters="[]{}+-")).filter(
    lambda text: "\n" not in text
)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("same", "same", []),
        ("", "", []),
        ("the cat sat", "the dog sat", ["the [-cat-]{+dog+} sat"]),
        ("the cat", "the cat sat", ["the cat {+sat+}"]),
        ("the cat sat", "the cat", ["the cat [-sat-]"]),
        ("one", "one\ntwo", ["one", "{+two+}"]),
        ("one\ntwo", "one\nthree", ["one", "[-two-]{+three+}"]),
        ("", "new", ["{+new+}"]),
        ("old", "", ["[-old-]"]),
        ("9 Mio €", "7 Mio €", ["[-9-]{+7+} Mio €"]),
        ("a b", "a  b", ["a[- -]{+  +}b"]),
        ("a\n", "a", ["a[-", "-]"]),
        (" ", "", ["[- -]"]),
    ],
)
def test_removed_and_added_words_are_marked(old: str, new: str, lines: list[str]) -> None:
    assert list(difference(old, new)) == lines


@given(plain)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert list(difference(text, text)) == []


@given(plain, plain)
def test_different_texts_always_show_a_mark(old: str, new: str) -> None:
    if old != new:
        assert MARKS.search("\n".join(difference(old, new)))


def test_long_texts_are_compared_by_line_and_quickly() -> None:
    old = "\n".join(f"line {number} of the text" for number in range(MOST_WORDS))
    new = old.replace("line 77 of", "line 78 of")
    started = time.process_time()
    lines = list(difference(old, new))
    assert time.process_time() - started < 2
    assert [line for line in lines if line[0] in "+-"][2:] == ["-line 77 of the text", "+line 78 of the text"]


def test_the_longest_texts_compared_by_word_are_compared_quickly() -> None:
    half = MOST_WORDS // 2
    old, new = (" ".join(str(number * step % 97) for number in range(half)) for step in (3, 5))
    started = time.process_time()
    assert "[-" in "\n".join(difference(old, new))
    assert time.process_time() - started < 2
