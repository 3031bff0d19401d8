"""The local model quotes sentences of the passages verbatim and deterministically."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.llm.pure.extractive import best_quotes, extract
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
    assert extract(question, PASSAGES, limit) == answer


def test_a_word_in_every_sentence_counts_less_than_a_rare_one() -> None:
    passage = "The parser reads files. The parser writes logs. The parser fails on tabs."
    assert extract("Where does the parser fail?", [passage], 1) == "The parser fails on tabs."


def test_a_tie_goes_to_the_earlier_sentence() -> None:
    assert extract("birds", ["Some birds sing.", "Some birds swim."], 1) == "Some birds sing."


def test_a_duplicate_sentence_is_quoted_once() -> None:
    found = best_quotes("refund", ["Refunds take 14 days.", "Refunds take 14 days."], 5)
    assert [quote.passage for quote in found] == [0]


def test_a_question_in_a_passage_is_not_an_answer() -> None:
    assert extract("Are refunds possible?", ["Are refunds possible? Ask us about refunds."], 1) == (
        "Ask us about refunds."
    )


def test_a_question_of_function_words_only_is_still_answered() -> None:
    assert extract("who is it", ["It is Ada.", "Berlin"], 1) == "It is Ada."


def test_without_passages_there_is_no_answer() -> None:
    assert extract("refunds", [], 3) == NO_ANSWER


@given(QUESTIONS, TEXTS.map(lambda texts: [*texts, *PASSAGES]), st.sampled_from([1, 3, 5]))
def test_every_quote_is_verbatim_and_the_answer_consists_of_quotes(
    question: str, passages: list[str], limit: int
) -> None:
    quotes = best_quotes(question, passages, limit)
    assert len(quotes) <= limit
    for quote in quotes:
        assert passages[quote.passage][quote.start : quote.end] == quote.text
        assert quote.score > 0
    answer = extract(question, passages, limit)
    assert answer == ("\n".join(quote.text for quote in quotes) or NO_ANSWER)
    places = [(quote.passage, quote.start) for quote in quotes]
    assert places == sorted(places)


@given(QUESTIONS, TEXTS)
def test_a_higher_limit_only_adds_sentences(question: str, passages: list[str]) -> None:
    one, three = (best_quotes(question, [*passages, *PASSAGES], limit) for limit in (1, 3))
    assert set(one) <= set(three)


@given(QUESTIONS, TEXTS)
def test_the_same_question_has_the_same_answer(question: str, passages: list[str]) -> None:
    assert extract(question, passages, 3) == extract(question, passages, 3)


def test_a_row_of_dashes_is_not_part_of_a_quote() -> None:
    passage = "| Plan | Seats |\n|---|---|\n| Basic | 3 seats |\n\n---\nTeam has 25 seats."
    answer = extract("How many seats has the Basic plan?", [passage], 5)
    assert "--" not in answer
    assert "| Basic | 3 seats |" in answer
    quotes = best_quotes("How many seats has the Basic plan?", [passage], 5)
    assert all(passage[quote.start : quote.end] == quote.text for quote in quotes)
