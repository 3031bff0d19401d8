"""The exact tests agree with scipy and with cases counted by hand."""

from typing import Any

import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.replay.comparison.pure.statistics.exact import (
    MOST_EXACT,
    holm,
    mean_ranks,
    sign_test,
    signed_ranks,
)

DIFFERENCES = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=9)


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(0, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (9, 2, 0.0654296875), (3, 3, 1.0)],
)
def test_six_to_zero_is_the_smallest_significant_split(wins: int, losses: int, p: float) -> None:
    assert sign_test(wins, losses) == p


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_sign_test_agrees_with_scipy(wins: int, losses: int) -> None:
    expected = scipy.stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.integers(-5, 5).map(float), max_size=30))
def test_ranks_agree_with_scipy(values: list[float]) -> None:
    assert mean_ranks(values) == list(scipy.stats.rankdata(values))


@given(DIFFERENCES.filter(any))
def test_signed_ranks_agree_with_scipy_over_all_signs(differences: list[float]) -> None:
    every_sign = scipy.stats.PermutationMethod(n_resamples=2 ** len(differences))
    expected: Any = scipy.stats.wilcoxon(differences, zero_method="pratt", method=every_sign)
    found = signed_ranks(differences)
    assert found.p == pytest.approx(expected.pvalue)
    assert min(found.positive, found.negative) == pytest.approx(expected.statistic)
    assert found.exact


@settings(max_examples=15)
@given(st.lists(st.integers(-9, 9).map(float), min_size=150, max_size=200))
def test_many_signed_ranks_agree_with_scipys_normal_limit(differences: list[float]) -> None:
    found = signed_ranks(differences)
    if found.exact:
        assert sum(map(bool, differences)) <= MOST_EXACT
        return
    expected: Any = scipy.stats.wilcoxon(differences, zero_method="pratt", method="asymptotic")
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("differences", "biserial"), [([1, 2, 3], 1.0), ([-1, -2], -1.0), ([1, -1], 0.0), ([0, 0], None)]
)
def test_the_rank_biserial_is_the_favourable_minus_the_unfavourable_share(
    differences: list[float], biserial: float | None
) -> None:
    assert signed_ranks(differences).rank_biserial == biserial


@given(DIFFERENCES)
def test_swapping_the_sides_swaps_the_ranks_and_keeps_p(differences: list[float]) -> None:
    one, other = signed_ranks(differences), signed_ranks([-each for each in differences])
    assert (one.positive, one.negative) == (other.negative, other.positive)
    assert one.p == pytest.approx(other.p)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_never_lowers_a_p_keeps_the_order_and_stays_below_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for before, after in zip(p_values, adjusted, strict=True):
        assert before <= after <= min(1.0, before * len(p_values)) + 1e-12
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[each] for each in order] == sorted(adjusted)


def test_holm_matches_a_known_table() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
