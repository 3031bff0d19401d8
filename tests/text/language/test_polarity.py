import pytest

from timemachine.text.pure.language.polarity import leading_pole, negated_in_one, turned
from timemachine.text.pure.language.statement import Statement


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It did not close.", ["not"]),
        ("It didn't close, never opened, without cause.", ["didn't", "never", "without"]),
        ("They failed to agree and the test failed.", ["failed"]),
        ("Not only late, no. 5 and no 6.", []),
        ("No, it closed.", []),
        ("No approval was given.", ["No"]),
        ("Is it? no", []),
        ("He refused to sign; he is unable to.", ["refused", "unable"]),
    ],
)
def test_negating_words_are_found(text: str, expected: list[str]) -> None:
    terms = Statement(text).terms
    assert [text[term.start : term.end] for term in terms if term.kind == "negation"] == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("The deal did not close", "The deal closed", "clos"),
        ("The deal closed", "The deal never closed", "clos"),
        ("It is not true that the deal closed", "The deal closed", "deal"),
        ("No approval was given", "Approval was given", "approval"),
        ("No approval was given", "Approval was not given", None),
        ("The deal closed on Friday", "The deal closed on Friday, although nobody had approved it", None),
        ("It did not close due to weather", "Due to weather it did not close", None),
        ("It was not seen, not heard", "It was seen", "seen"),
        ("It did not.", "It did.", None),
        ("It was not not late", "It was late", "lat"),
        ("It was no more than 5", "It was 5", None),
        ("It was no more than 5", "It was more than 5", "mor"),
        ("Use ice, but do not use ice on bare skin", "Use ice", None),
    ],
)
def test_a_term_negated_on_one_side_only_is_reported(one: str, other: str, expected: str | None) -> None:
    assert negated_in_one(Statement(one).terms, Statement(other).terms) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Prices rose", "Prices fell", ("amount",)),
        ("Prices rose", "Prices increased", ()),
        ("They rose, then fell", "They fell", ()),
        ("before lunch it passed", "after lunch it lost", ("order", "outcome")),
        ("Prices rose", "Prices", ()),
        ("It rose above the water", "It rose below the water", ("place",)),
    ],
)
def test_sentences_with_opposite_meanings_are_reported(
    one: str, other: str, expected: tuple[str, ...]
) -> None:
    assert turned(Statement(one).polarity, Statement(other).polarity) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes, it did.", "+"),
        ("No.", "-"),
        ("Correct", "+"),
        ("Wrong", "-"),
        ("Rising", None),
        ("Perhaps", None),
        ("", None),
    ],
)
def test_yes_or_no_at_the_start_of_an_answer_is_detected(text: str, expected: str | None) -> None:
    assert leading_pole(text) == expected
