import pytest

from timemachine.language.refusal import NO_ANSWER, is_refusal


@pytest.mark.parametrize(
    "text",
    [
        NO_ANSWER,
        "The passages do not say.",
        "I cannot answer this question.",
        "I'm sorry, but I cannot answer that. Please provide more context.",
        "There is no information about the price in the context.",
        "No information was found.",
        "No relevant passages found.",
        "The provided context does not contain information about this.",
        "The documents provided do not mention the price.",
        "The context you provided does not mention it.",
        "The context contains no mention of a price.",
        "It is not mentioned in the given passages.",
        "I don't know.",
        "I do not have enough information to answer.",
        "Based on the context, it cannot be determined who won.",
        "Unanswerable.",
        "Not specified",
        "**The passages do not say** who it was.",
        "I’m unable to help with that.",
        "I couldn't find anything about that in the documents.",
        "There isn't enough information to answer.",
        "There is insufficient evidence.",
        "The answer is not in the context.",
        "The text doesn't explicitly state the date.",
        "I was unable to find this.",
        "No answer.",
        "Unable to answer given the passages.",
        "It is unclear.",
        "The article lacks this.",
    ],
)
def test_an_answer_that_gives_none_is_a_refusal(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "The deal closed.",
        "The passages do not give the price, but they say the deal closed in May.",
        "The context does not mention the price. The deal closed in May.",
        "The user cannot find the file.",
        "The server does not answer.",
        "No.",
        "There is no doubt.",
        "The test data do not match.",
        "No passengers were hurt.",
        "He said he did not know.",
        "Please provide more context.",
        "I cannot answer this. " * 200,
    ],
)
def test_an_answer_that_says_something_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)
