import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.difference.text import DiffRow, Folded, Span, fold, text_diff

WORDS = st.sampled_from(["the", "deal", "closed", "on", "Friday", "$2", "not", "東", "—", "B."])
GAPS = st.sampled_from([" ", ". ", ".\n", "\n\n  ", ", ", "! "])
TEXTS = st.lists(st.tuples(WORDS, GAPS), max_size=14).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)
MARKS = {"same": "{}", "removed": "[-{}]", "added": "[+{}]", "moved": "[~{}]"}


def side(spans: tuple[Span, ...]) -> str:
    return "".join(MARKS[span.mark].format(span.text) for span in spans)


def rows(old: str, new: str) -> list[tuple[str, str, str]]:
    return [(row.kind, side(row.left), side(row.right)) for row in text_diff(old, new).rows]


@settings(deadline=None)
@given(TEXTS | st.text(max_size=40), TEXTS | st.text(max_size=40))
def test_the_left_side_is_the_old_text_and_the_right_side_the_new_one(old: str, new: str) -> None:
    found = text_diff(old, new).rows
    assert "".join(span.text for row in found for span in row.left) == old
    assert "".join(span.text for row in found for span in row.right) == new


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_every_row_is_the_same_exactly_when_the_texts_are_equal(old: str, new: str) -> None:
    assert all(row.kind == "same" for row in text_diff(old, old).rows)
    assert (old == new) == all(row.kind == "same" for row in text_diff(old, new).rows)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_swapping_the_texts_gives_the_mirror_image(old: str, new: str) -> None:
    forth, back = text_diff(old, new).counts, text_diff(new, old).counts
    assert back == {**forth, "removed": forth["added"], "added": forth["removed"]}


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_marks_fit_the_kind_of_their_row(old: str, new: str) -> None:
    allowed = {
        "same": ({"same"}, {"same"}),
        "changed": ({"same", "removed"}, {"same", "added"}),
        "removed": ({"same", "removed"}, {"same"}),
        "added": ({"same"}, {"same", "added"}),
        "moved": ({"same", "moved"}, {"same", "moved"}),
    }
    for row in text_diff(old, new).rows:
        left, right = allowed[row.kind]
        assert {span.mark for span in row.left} <= left
        assert {span.mark for span in row.right} <= right
        assert all(span.text for span in (*row.left, *row.right))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("", "Some text.", [("added", "", "[+Some text.]")]),
        (" ", "", [("removed", "[- ]", "")]),
        (" ", "\n", [("changed", "[- ]", "[+\n]")]),
        (
            "The deal closed.",
            "The deal closed. It was good.",
            [("same", "The deal closed.", "The deal closed."), ("added", "", "[+ It was good.]")],
        ),
        (
            "It was good.",
            "The deal closed. It was good.",
            [("added", "", "[+The deal closed. ]"), ("same", "It was good.", "It was good.")],
        ),
        (
            "The deal closed.\n",
            "The deal closed. It was good.\n",
            [("same", "The deal closed.", "The deal closed."), ("added", "\n", "[+ It was good.]\n")],
        ),
        (
            "The deal closed on Friday for 2 billion.",
            "The deal did not close on Friday for 9 billion.",
            [
                (
                    "changed",
                    "The deal [-closed ]on Friday for [-2] billion.",
                    "The deal [+did not close ]on Friday for [+9] billion.",
                )
            ],
        ),
        (
            "Foo bar.\nX y.",
            "Foo bar. X y.",
            [("changed", "Foo bar.[-\n]", "Foo bar.[+ ]"), ("same", "X y.", "X y.")],
        ),
        (
            "def f():\n    return 1\n",
            "def f():\n        return 2\n",
            [
                ("same", "def f():\n", "def f():\n"),
                ("changed", "[-    return 1]\n", "[+        return 2]\n"),
            ],
        ),
        (
            "- one\n- two\n- three\n",
            "- one\n- 2 and more\n- three\n- four\n",
            [
                ("same", "- one\n", "- one\n"),
                ("changed", "- [-two]\n", "- [+2 and more]\n"),
                ("same", "- three\n", "- three\n"),
                ("added", "", "[+- four\n]"),
            ],
        ),
        (
            "Alpha beta gamma. Delta ran.",
            "Completely different text here!",
            [
                ("changed", "[-Alpha beta gamma.]", "[+Completely different text here!]"),
                ("removed", "[- Delta ran.]", ""),
            ],
        ),
        (
            "The price was $5. Shipping is free.",
            "The price was $7. Shipping is free. Returns cost $2.",
            [
                ("changed", "The price was $[-5]. ", "The price was $[+7]. "),
                ("same", "Shipping is free.", "Shipping is free."),
                ("added", "", "[+ Returns cost $2.]"),
            ],
        ),
        (
            "It ran.  He sat.",
            "It ran. He sat. We ate.",
            [
                ("changed", "It ran.[-  ]", "It ran.[+ ]"),
                ("same", "He sat.", "He sat."),
                ("added", "", "[+ We ate.]"),
            ],
        ),
        ("it's 2,000.5 now", "it's 2,000.6 now", [("changed", "it's [-2,000.5] now", "it's [+2,000.6] now")]),
        ("東京は夜。", "東京は朝。", [("changed", "東京は[-夜]。", "東京は[+朝]。")]),
    ],
)
def test_differences_are_shown_side_by_side(old: str, new: str, expected: list[tuple[str, str, str]]) -> None:
    assert rows(old, new) == expected


def test_a_moved_sentence_is_marked_in_both_positions() -> None:
    assert rows("A one two. B three four. C five six.", "B three four. C five six. A one two.") == [
        ("moved", "[~A one two. ]", ""),
        ("same", "B three four. ", "B three four. "),
        ("same", "C five six.", "C five six."),
        ("moved", "", "[~ A one two.]"),
    ]


def test_text_between_moved_sentences_is_still_compared() -> None:
    found = text_diff(
        "Move me there. The cat sat down. Stay here now.", "Stay here now. The dog sat down. Move me there."
    )
    assert found.counts == {"same": 1, "changed": 0, "removed": 1, "added": 1, "moved": 1}


def test_a_sentence_of_one_word_does_not_move() -> None:
    assert text_diff("Yes. Stay here now.", "Stay here now. Yes.").counts["moved"] == 0


def test_a_long_run_without_a_difference_is_folded_around_its_context() -> None:
    old = "".join(f"Line {number} stays.\n" for number in range(20))
    found = fold(text_diff(old, old.replace("Line 10 stays", "Row 10 goes")).rows)
    assert [row.count if isinstance(row, Folded) else row.kind for row in found] == [
        8,
        "same",
        "same",
        "changed",
        "same",
        "same",
        7,
    ]
    assert [row.start for row in found if isinstance(row, Folded)] == [0, 13]


@settings(deadline=None)
@given(TEXTS, TEXTS, st.integers(0, 3))
def test_folding_hides_only_rows_without_a_difference(old: str, new: str, context: int) -> None:
    found = text_diff(old, new).rows
    unfolded: list[DiffRow] = []
    for row in fold(found, context):
        if isinstance(row, Folded):
            assert row.start == len(unfolded)
            assert row.count > 1
            hidden = found[row.start : row.start + row.count]
            assert all(each.kind == "same" for each in hidden)
            unfolded += hidden
        else:
            unfolded.append(row)
    assert tuple(unfolded) == found


@pytest.mark.parametrize("unit", ["line {}\n", "a,b;{} ", "x"])
def test_texts_of_100_000_characters_are_compared_within_seconds(unit: str) -> None:
    dice = random.Random(7)
    numbers = [dice.randrange(1_000) for _ in range(100_000 // len(unit))]
    old = "".join(unit.format(number) for number in numbers)
    new = "".join(unit.format(number + (dice.random() < 0.06)) for number in numbers)
    started = time.process_time()
    found = text_diff(old, new).rows
    assert time.process_time() - started < 10
    assert "".join(span.text for row in found for span in row.right) == new


@pytest.mark.parametrize(
    ("old", "new", "left", "right"),
    [
        (
            "The red fox, it ran home.",
            "The tan dog, it ran home.",
            "The [-red fox], it ran home.",
            "The [+tan dog], it ran home.",
        ),
        (
            "A well-kept old garden lies behind it, and a (small) pond.",
            "A well-known old garden lies behind it, and a (large) pond.",
            "A well-[-kept] old garden lies behind it, and a ([-small]) pond.",
            "A well-[+known] old garden lies behind it, and a ([+large]) pond.",
        ),
        (
            "One two three four five six seven eight nine.",
            "One 2 3 4 five 6 7 8 nine.",
            "One [-two three four five six seven eight] nine.",
            "One [+2 3 4 five 6 7 8] nine.",
        ),
    ],
)
def test_replaced_words_are_marked_without_the_punctuation_next_to_them(
    old: str, new: str, left: str, right: str
) -> None:
    assert rows(old, new) == [("changed", left, right)]
    mirrored = left.replace("[-", "[+"), right.replace("[+", "[-")
    assert rows(new, old) == [("changed", mirrored[1], mirrored[0])]
