import pytest

from timemachine.text.pure.difference.excerpt import excerpt

LONG = "The fee for a replacement card is 12 francs when the customer lost the card. "


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        (None, "a", []),
        ("", None, []),
        ("It rained.", None, [("It rained.", "same")]),
        ("It rained.", "It rained.", [("It rained.", "same")]),
        ("It rained. It snowed.", "It rained.", [("It rained.", "same"), (" It snowed.", "added")]),
        ("It rained.", "It rained. It snowed.", [("It rained.", "same"), (" It snowed.", "removed")]),
    ],
)
def test_an_excerpt_marks_what_differs(
    text: str | None, other: str | None, expected: list[tuple[str, str]]
) -> None:
    assert [tuple(each) for each in excerpt(text, other)] == expected


def test_a_late_difference_is_in_view_and_what_is_cut_has_an_ellipsis() -> None:
    found = excerpt(LONG + "It is 35 abroad. " + LONG * 3, LONG + LONG * 3)
    shown = "".join(span.text for span in found)
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert any(span.mark == "added" and "35 abroad" in span.text for span in found)
    assert shown.index("35") < 72


def test_only_the_beginning_of_an_endless_answer_is_compared() -> None:
    assert excerpt("a" * 5_000, "a" * 5_000)[-1].text == "…"
    assert len("".join(span.text for span in excerpt("word " * 2_000, None))) == 161
