"""The local model: the passages' own sentences, word for word, the same every time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.llm.pure.extractive import extract
from timemachine.text.pure.language.refusal import NO_ANSWER

PASSAGES = (
    "How long do refunds take? Refunds are processed within 14 days. Contact support for help.",
    "Our office is in Berlin. The company was founded in 1999 by Ada.\nCaching: the cache keeps answers for an hour.",
    "Shipping takes 3 days. Refund requests need a receipt.",
)
TEXTS = st.lists(st.text(max_size=200), max_size=4)
QUESTIONS = st.one_of(st.text(max_size=80), st.sampled_from(["When was the company founded?", "refunds"]))

ANSWERS = [
    ("How long do refunds take?", 1, "Refunds are processed within 14 days."),
    ("how long do REFUNDS take", 3, "Refunds are processed within 14 days.\nRefund requests need a receipt."),
    ("When was the company founded?", 1, "The company was founded in 1999 by Ada."),
    ("What is cached?", 1, "Caching: the cache keeps answers for an hour."),
    ("What does shipping cost?", 1, "Shipping takes 3 days."),
    ("Who is the president of France?", 3, NO_ANSWER),
    ("", 3, NO_ANSWER),
    ("?!", 3, NO_ANSWER),
]


@pytest.mark.parametrize(("question", "limit", "answer"), ANSWERS)
def test_the_best_matching_sentences_are_quoted_in_reading_order(
    question: str, limit: int, answer: str
) -> None:
    assert extract(question, PASSAGES, limit).text == answer


def test_a_word_of_every_sentence_counts_less_than_a_rare_one() -> None:
    passage = "The parser reads files. The parser writes logs. The parser fails on tabs."
    assert extract("Where does the parser fail?", [passage], 1).text == "The parser fails on tabs."


def test_a_tie_goes_to_the_earlier_sentence() -> None:
    assert extract("birds", ["Some birds sing.", "Some birds swim."], 1).text == "Some birds sing."


def test_a_sentence_that_stands_twice_is_quoted_once() -> None:
    found = extract("refund", ["Refunds take 14 days.", "Refunds take 14 days."], 5)
    assert [quote.passage for quote in found.quotes] == [0]


def test_a_question_in_a_passage_is_not_an_answer() -> None:
    assert extract("Are refunds possible?", ["Are refunds possible? Ask us about refunds."], 1).text == (
        "Ask us about refunds."
    )


def test_a_question_of_small_words_only_is_still_asked() -> None:
    assert extract("who is it", ["It is Ada.", "Berlin"], 1).text == "It is Ada."


def test_without_passages_there_is_no_answer() -> None:
    assert extract("refunds", [], 3).text == NO_ANSWER
    assert extract("refunds", [], 3).quotes == ()


@given(QUESTIONS, TEXTS.map(lambda texts: [*texts, *PASSAGES]), st.sampled_from([1, 3, 5]))
def test_every_quote_is_verbatim_and_the_answer_is_the_quotes(
    question: str, passages: list[str], limit: int
) -> None:
    found = extract(question, passages, limit)
    assert len(found.quotes) <= limit
    for quote in found.quotes:
        assert passages[quote.passage][quote.start : quote.end] == quote.text
        assert quote.score > 0
    assert found.text == ("\n".join(quote.text for quote in found.quotes) or NO_ANSWER)
    places = [(quote.passage, quote.start) for quote in found.quotes]
    assert places == sorted(places)


@given(QUESTIONS, TEXTS)
def test_more_sentences_only_add_to_fewer(question: str, passages: list[str]) -> None:
    one, three = (extract(question, [*passages, *PASSAGES], limit).quotes for limit in (1, 3))
    assert set(one) <= set(three)


@given(QUESTIONS, TEXTS)
def test_the_same_question_has_the_same_answer(question: str, passages: list[str]) -> None:
    assert extract(question, passages, 3) == extract(question, passages, 3)


def test_a_row_of_dashes_is_no_part_of_a_quote() -> None:
    passage = "| Plan | Seats |\n|---|---|\n| Basic | 3 seats |\n\n---\nTeam has 25 seats."
    found = extract("How many seats has the Basic plan?", [passage], 5)
    assert "--" not in found.text
    assert "| Basic | 3 seats |" in found.text
    assert all(passage[quote.start : quote.end] == quote.text for quote in found.quotes)
