import pytest

from timemachine.text.pure.language.refusal import NO_ANSWER, is_refusal, without_refusal


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
        "None of the passages provide information about it.",
        "Therefore, the answer is unable to answer based on given passages.",
    ],
)
def test_an_answer_without_an_answer_is_a_refusal(text: str) -> None:
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
        "The bank was unable to provide loans based on the information.",
        "No.",
        "There is no doubt.",
        "The test data do not match.",
        "No passengers were hurt.",
        "He said he did not know.",
        "Please provide more context.",
        "I cannot answer this. " * 200,
    ],
)
def test_an_answer_with_content_is_not_a_refusal(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize(
    ("sentence", "remaining"),
    [
        ("The price is $5, but the passage does not give the date.", "The price is $5"),
        (
            "The first passage says it is 5, but it does not specify the date.",
            "The first passage says it is 5",
        ),
        ("Although the passages do not mention the price, the deal closed.", "the deal closed."),
        ("The passages do not give the price, but they say it closed.", "they say it closed."),
    ],
)
def test_the_refusing_part_of_a_sentence_is_left_out(sentence: str, remaining: str) -> None:
    assert without_refusal(sentence) == remaining


@pytest.mark.parametrize(
    "sentence",
    [
        "The deal closed.",
        "Acme paid the fine but it did not include tax.",
        "The contract covers parts, but it does not cover labour.",
        "The server answers, but the client does not say why.",
        "The price is $5, but the passage does not give the date. " * 50,
    ],
)
def test_a_denial_is_kept(sentence: str) -> None:
    assert without_refusal(sentence) == sentence
