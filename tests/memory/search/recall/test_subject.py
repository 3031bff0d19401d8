"""Whether a question contains anything to search for."""

import pytest

from timemachine.memory.search.recall.pure.subject import subject_of


@pytest.mark.parametrize(
    "question",
    [
        "",
        "What did we figure out ?",
        "what’s been decided?",
        "compare with",
        "Remind me: what was it that they'd said",
        "…?",
    ],
)
def test_question_words_alone_are_not_a_subject(question: str) -> None:
    assert subject_of(question) == ""


@pytest.mark.parametrize(
    "question", ["what did we decide about the fee?", "ERR_CONN_RESET", "Gebühr", "was it 42?"]
)
def test_one_other_word_is_a_subject_and_the_question_is_unchanged(question: str) -> None:
    assert subject_of(question) == question
