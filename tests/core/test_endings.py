import pytest

from timemachine.core.pure.finish_reasons import CUT_SHORT, ENDED, REFUSED, ended_in_words


@pytest.mark.parametrize("reason", sorted(CUT_SHORT | REFUSED))
def test_every_reason_for_an_incomplete_answer_has_a_description_with_the_original(reason: str) -> None:
    assert (ended_in_words(reason) or "").endswith(f" ({reason}).")


@pytest.mark.parametrize("reason", [*sorted(ENDED), None, "no word that we know", 7, ["length"]])
def test_any_other_reason_has_no_description(reason: object) -> None:
    assert ended_in_words(reason) is None


def test_a_length_limit_is_not_a_refusal_and_a_content_filter_is_both() -> None:
    assert ("length" in REFUSED, "length" in CUT_SHORT) == (False, True)
    assert ("content_filter" in REFUSED, "content_filter" in CUT_SHORT) == (True, True)
    assert ("refusal" in REFUSED, "refusal" in CUT_SHORT) == (True, False)
