"""Parsing of whole numbers in URLs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.numbers import branch_point, sum_known, whole_number


@pytest.mark.parametrize("text", ["", "-1", "+1", "1.0", " 1", "²", "١", "1_0", "9" * 19, "9" * 5_000, "1\n"])
def test_any_other_text_is_not_a_number(text: str) -> None:
    assert whole_number(text) is None


@given(st.integers(0, 10**18 - 1))
def test_a_number_round_trips_through_its_digits(number: int) -> None:
    assert whole_number(str(number)) == number


def test_unknown_values_are_ignored_in_a_sum() -> None:
    assert sum_known() is None
    assert sum_known(None, None) is None
    assert sum_known(None, 0) == 0
    assert sum_known(1, None, 2) == 3


def test_a_branch_starts_after_a_step_at_the_beginning_or_at_the_end() -> None:
    assert [branch_point(each) for each in (1_234, 0, None)] == ["step 1,234", "the beginning", "the end"]
