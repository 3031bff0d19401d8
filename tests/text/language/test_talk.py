import pytest

from timemachine.text.pure.language.talk import makes_no_claim


@pytest.mark.parametrize(
    "sentence",
    [
        "I hope this helps!",
        "Hope this is what you need.",
        "Let me know if you have any further questions.",
        "If you have any other questions, just ask.",
        "Please feel free to ask.",
        "Sure!",
        "Sure, I can help you with that!",
        "Please note that these meanings are based on the specific passages provided and may not be exhaustive.",
        "Sure! Here's the answer based on the given passages:",
        "Based on the given passages, here are some ways to cure a swollen foot:",
        "To transfer files to a USB stick, follow these steps:",
        "It is recommended to consult a tax professional for more information.",
        "9. If the garbage disposal still does not work, call a professional plumber for help.",
        "It’s important to seek medical advice if the pain persists.",
        "Contact the manufacturer.",
    ],
)
def test_courtesies_introductions_and_advice_to_ask_someone_claim_nothing(sentence: str) -> None:
    assert makes_no_claim(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "Yes, the deal closed.",
        "No.",
        "The company should see growth.",
        "Acme called the lawyers.",
        "The bank gets support from the state.",
        "The doctor advised rest.",
        "He was advised to see the doctor.",
        "Call a doctor after 3 days.",
        "You should not consult a doctor.",
        "You need not see a doctor; you don't have to call a lawyer.",
        "The steps are steep.",
        "Hope is a town in Canada.",
    ],
)
def test_sentences_with_content_claim_something(sentence: str) -> None:
    assert not makes_no_claim(sentence)
