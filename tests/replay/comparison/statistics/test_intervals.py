"""Intervals of paired differences agree with scipy and stay wide with little data."""

import math
import tracemalloc

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from timemachine.replay.comparison.pure.statistics import intervals
from timemachine.replay.comparison.pure.statistics.intervals import (
    ALL_ZERO,
    FEWEST,
    FINEST,
    NO_SPREAD,
    deviation,
    interval,
    levelled,
    mean,
)
from timemachine.replay.comparison.pure.statistics.students_t import (
    incomplete_beta,
    t_distribution,
    t_quantile,
)

VALUES = st.floats(-100, 100).map(lambda each: round(each, 3))
SESSIONS = st.lists(st.tuples(VALUES, st.integers(0, 120)), min_size=FEWEST, max_size=150)


@given(st.floats(0.501, 0.9995), st.integers(1, 2_000))
def test_quantiles_of_t_agree_with_scipy(probability: float, degrees: int) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(
        scipy.stats.t.ppf(probability, degrees), rel=1e-8, abs=1e-8
    )


@given(st.floats(0, 50), st.integers(1, 500))
def test_the_t_distribution_agrees_with_scipy(t: float, degrees: int) -> None:
    assert t_distribution(t, degrees) == pytest.approx(scipy.stats.t.cdf(t, degrees), abs=1e-12)


@given(st.floats(0.1, 200), st.floats(0.1, 200), st.floats(0, 1))
def test_the_incomplete_beta_function_agrees_with_scipy(a: float, b: float, x: float) -> None:
    assert incomplete_beta(a, b, x) == pytest.approx(scipy.stats.beta.cdf(x, a, b), abs=1e-10)


@given(st.lists(VALUES, min_size=FEWEST, max_size=99).filter(lambda each: len(set(each)) > 1))
def test_below_a_hundred_pairs_the_interval_is_a_paired_t_interval(differences: list[float]) -> None:
    found = interval(differences, [0] * len(differences), 1.0)
    assert found is not None
    assert found.method == "paired_t"
    expected = scipy.stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    if not math.isnan(expected.low):
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-6)


@given(st.lists(VALUES, max_size=FEWEST - 1))
def test_below_six_pairs_there_is_no_interval(differences: list[float]) -> None:
    assert interval(differences, [0] * len(differences), 1.0) is None


def test_from_a_hundred_pairs_a_seeded_bootstrap_gives_reproducible_intervals() -> None:
    differences = [math.sin(each) for each in range(150)]
    one, other = (interval(differences, ["s"] * 150, 1.0) for _ in range(2))
    assert one == other
    assert one is not None
    assert one.method == "bootstrap"
    expected = scipy.stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    assert (one.low, one.high) == pytest.approx((expected.low, expected.high), abs=0.02)


@pytest.mark.parametrize("most_kept", [4_000, 3_999])
def test_many_pairs_are_resampled_in_little_memory(most_kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "MOST_KEPT", most_kept)
    pairs = 4_000
    differences = [math.sin(each) for each in range(pairs)]
    tracemalloc.start()
    found = interval(differences, ["s"] * pairs, 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found is not None
    expected = scipy.stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.002)
    assert peak < 40e6


def test_correlated_asks_of_a_session_widen_the_interval() -> None:
    differences = [1.0] * 6 + [-1.0] * 6 + [0.5] * 6
    clusters = [each // 6 for each in range(18)]
    alone, clustered = (interval(differences, each, 1.0) for each in ([0] * 18, clusters))
    assert alone is not None
    assert clustered is not None
    assert clustered.method == "clustered_t"
    assert clustered.farthest > 2 * alone.farthest


@given(st.lists(VALUES, min_size=FEWEST, max_size=40).filter(lambda each: len(set(each)) > 1))
def test_one_session_gives_the_same_interval_as_independent_asks(differences: list[float]) -> None:
    one = interval(differences, ["s"] * len(differences), 1.0)
    other = interval(differences, range(len(differences)), 1.0)
    assert one is not None
    assert other is not None
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-9)


def test_from_a_hundred_sessions_complete_sessions_are_resampled() -> None:
    differences = [math.sin(each // 3) for each in range(360)]
    found = interval(differences, [each // 3 for each in range(360)], 1.0)
    assert found is not None
    assert found.method == "clustered_bootstrap"
    error = deviation(differences[::3]) / math.sqrt(120)
    assert found.high - found.low == pytest.approx(4 * error, rel=0.15)


@pytest.mark.parametrize(("pairs", "most"), [(6, 0.393), (12, 0.221), (300, 0.00994)])
def test_identical_differences_still_give_an_interval(pairs: int, most: float) -> None:
    for same in (0.0, 1.0):
        found = interval([same] * pairs, ["s"] * pairs, 1.0)
        assert found is not None
        assert (found.low, found.high) == pytest.approx((same - most, same + most), rel=0.01)
        assert found.excludes_zero == bool(same)
        assert found.within(-1, 1).high == min(1, found.high)


def test_identical_differences_are_counted_by_session() -> None:
    alone, sessions = (interval([0.0] * 12, clusters, 1.0) for clusters in ([0] * 12, [0, 1] * 6))
    assert alone is not None
    assert sessions is not None
    assert alone.high == pytest.approx(0.2209, abs=0.001)
    assert sessions.high == pytest.approx(0.7764, abs=0.001)


def test_asks_that_vary_only_within_sessions_keep_their_own_interval_width() -> None:
    found = interval([0.0, 1, 1, 1, 1, 1, 1, 0], [1] * 4 + [2] * 4, 1.0)
    assert found is not None
    assert found.method == "clustered_t"
    error = math.sqrt(0.75 * 0.25 * 8 / 7) / math.sqrt(8)
    assert found.high - 0.75 == pytest.approx(scipy.stats.t.ppf(0.975, 1) * error)
    assert not found.excludes_zero


def test_a_hundred_identical_sessions_are_resampled_by_ask() -> None:
    found = interval([0.0, 1.0] * 100, [each // 2 for each in range(200)], 1.0)
    assert found is not None
    assert found.method == "bootstrap"
    assert found.high - found.low == pytest.approx(4 * math.sqrt(0.25 / 200), rel=0.15)


@given(SESSIONS)
def test_an_interval_has_zero_width_only_if_every_value_is_0(asks: list[tuple[float, int]]) -> None:
    differences = [value for value, _ in asks]
    scale = max(map(abs, differences))
    found = interval(differences, [session for _, session in asks], scale)
    assert found is not None
    assert (found.high == found.low) == (found.method == ALL_ZERO) == (scale == 0)
    assert (found.method in {NO_SPREAD, ALL_ZERO}) == (len(set(differences)) == 1)


@given(st.lists(st.floats(0, 1), min_size=FEWEST, max_size=60), st.floats(-1, 1))
def test_a_constant_shift_is_one_difference_despite_rounding_errors(
    figures: list[float], shift: float
) -> None:
    differences = [(each + shift) - each for each in figures]
    found = interval(differences, range(len(figures)), 1.0)
    assert found is not None
    assert found.method == NO_SPREAD
    size = abs(levelled(differences, 1.0)[0]) or 1.0
    assert found.high - found.low == pytest.approx(2 * size * (1 - 0.05 ** (1 / len(figures))), abs=1e-12)
    assert deviation(levelled(differences, 1.0)) == 0


@given(st.lists(st.floats(-1, 1), max_size=40))
def test_levelling_is_idempotent_and_moves_values_only_slightly(values: list[float]) -> None:
    once = levelled(values, 1.0)
    assert levelled(once, 1.0) == once
    assert [-each for each in once] == levelled([-each for each in values], 1.0)
    assert all(abs(new - old) <= len(values) * FINEST for new, old in zip(once, values, strict=True))


def test_values_are_levelled_relative_to_their_scale() -> None:
    assert levelled([3e-15, -2e-16, 0.5, 0.5 + 1e-15, 0.5 + 1e-9], 1.0) == pytest.approx(
        [0, 0, 0.5, 0.5, 0.5 + 1e-9], abs=1e-14
    )
    assert levelled([3e-15, -2e-16], 1e-6) == [3e-15, -2e-16]
    assert levelled([], 1.0) == []


def test_a_mean_does_not_depend_on_the_order() -> None:
    assert mean([0.1, 0.2, 0.3]) == mean([0.3, 0.1, 0.2])
    assert deviation([4.0]) == 0
