"""Reasons must not contain the erased texts."""

import pytest

from timemachine.governance.deletion.erasure.pure.repeats import quotes


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("Jane Doe asked for it", "Jane Doe"),
        ("JANE—DOE asked for it", "jane doe"),
        ("she wrote: 12 Elm Street", "She lives at the lake. 12 Elm Street."),
        ("the customer 张三 asked", "张三"),
        ("it named the patient's ward", "Patient"),
        ("half a \ud800 character said", "a \ud800 character"),
    ],
)
def test_an_erased_text_is_detected_in_a_reason(reason: str, text: str) -> None:
    assert quotes(reason, ["another text", text])


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("the customer asked for it", "Jane Doe"),
        ("Jane asked for it", "Jane Doe"),
        ("a janedoe asked", "Jane Doe"),
        ("it is to go", "to"),
        ("it is to go", "– –"),
        ("", "Jane Doe"),
        ("gone", ""),
    ],
)
def test_other_words_are_not_detected(reason: str, text: str) -> None:
    assert not quotes(reason, [text])
