"""Statements about two variants never claim more than their pairs show."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from timemachine.replay.comparison.pure.metrics import MEASURES, OF_THE_RECORDING
from timemachine.replay.comparison.pure.statistics.paired import (
    A_BETTER,
    B_BETTER,
    NOT_SHOWN,
    SIGNIFICANT,
    TOO_FEW,
    Metric,
    Pair,
    PairedResult,
    Reading,
    compare,
    corrected,
    needed_pairs,
)
from timemachine.replay.comparison.pure.statistics.summaries import (
    SpreadOut,
    percentile,
    ratio_of_medians,
    spread,
)
from timemachine.replay.comparison.pure.statistics.wording import (
    figure,
    interval_words,
    is_closeness,
    p_words,
    sentence,
    signed,
    verdict_words,
)

AGREES = Metric(name="agreement", higher_is_better=True, bounded=True)
GROUNDED = Metric(name="grounding", higher_is_better=True, bounded=True)
COST = Metric(name="cost", higher_is_better=False, bounded=False)
SHARES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=40)


def pairs_of(values: Sequence[tuple[float, float]], cluster: int = 0) -> list[Pair]:
    return [Pair(cluster=cluster, a=Reading(value=a), b=Reading(value=b)) for a, b in values]


def judged(metric: Metric, values: Sequence[tuple[float, float]]) -> PairedResult:
    return corrected([compare(metric, pairs_of(values))])[0]


def test_below_six_pairs_there_is_no_verdict_but_the_pairs_are_shown() -> None:
    found = judged(AGREES, [(0, 1)] * 5)
    assert (found.verdict, found.interval, found.p) == (TOO_FEW, None, 0.0625)
    assert found.pairs == ((0, 1),) * 5


def test_six_to_zero_is_the_smallest_split_with_a_verdict() -> None:
    assert judged(AGREES, [(0, 1)] * 6).verdict == B_BETTER
    assert judged(AGREES, [(1, 0)] * 6).verdict == A_BETTER
    assert judged(AGREES, [(0, 1)] * 9 + [(1, 0)] * 2).verdict == NOT_SHOWN


def test_lower_costs_are_better() -> None:
    found = judged(COST, [(0.02 + each / 1000, 0.01) for each in range(8)])
    assert (found.verdict, found.wins, found.losses, found.test) == (B_BETTER, 8, 0, "wilcoxon")
    assert found.difference is not None
    assert found.difference < 0


def test_binary_shares_are_tested_by_mcnemar_and_others_by_ranks() -> None:
    assert judged(AGREES, [(0, 1), (1, 1)]).test == "mcnemar"
    assert judged(AGREES, [(0, 0.5), (1, 1)]).test == "wilcoxon"


def test_pairs_without_a_value_are_counted_with_their_reason() -> None:
    found = compare(
        GROUNDED,
        [
            *pairs_of([(0.5, 0.6)] * 3),
            Pair(cluster=0, a=Reading(value=0.5), b=Reading(value=None, missing="error")),
            Pair(cluster=0, a=Reading(value=0.5), b=Reading(value=None, missing="error")),
            Pair(cluster=0, a=Reading(value=None), b=Reading(value=None, missing="refused")),
        ],
    )
    assert found.n == 3
    assert found.excluded == {"B: error": 2, "A: unknown, B: refused": 1}


def test_without_a_single_pair_everything_is_unknown() -> None:
    found = judged(GROUNDED, [])
    assert (found.n, found.difference, found.p_holm, found.verdict) == (0, None, None, TOO_FEW)
    assert sentence(found, "score", "ask") == "not compared: no ask has a value on both sides"
    failed = compare(
        GROUNDED, [Pair(cluster=0, a=Reading(value=0.5), b=Reading(value=None, missing="error"))]
    )
    assert sentence(failed, "score", "ask").endswith("has a value on both sides (B: error)")


def test_one_small_p_among_many_metrics_is_no_verdict() -> None:
    lucky, dull = compare(AGREES, pairs_of([(0, 1)] * 6)), compare(GROUNDED, pairs_of([(0.5, 0.5)] * 8))
    assert corrected([lucky])[0].verdict == B_BETTER
    first, *others = corrected([lucky, dull, dull])
    assert first.verdict == NOT_SHOWN
    assert first.p_holm == pytest.approx(0.09375)
    assert {each.verdict for each in others} == {NOT_SHOWN}


def test_an_interval_over_sessions_can_revoke_a_verdict_from_single_asks() -> None:
    one_good_session = [
        *pairs_of([(0.2, 0.9)] * 10, cluster=1),
        *pairs_of([(0.5, 0.5)] * 2, cluster=2),
        *pairs_of([(0.5, 0.5)] * 2, cluster=3),
    ]
    found = corrected([compare(GROUNDED, one_good_session)])[0]
    assert found.p is not None
    assert found.p < 0.05
    assert found.verdict == NOT_SHOWN


def test_two_identical_sessions_show_no_more_than_their_asks() -> None:
    answers = [(0, each) for each in (0, 1, 1, 1, 1, 1, 1, 0)]
    found = corrected([compare(AGREES, [*pairs_of(answers[:4], 1), *pairs_of(answers[4:], 2)])])[0]
    assert found.p == 0.03125
    assert found.interval is not None
    assert (found.interval.low, found.interval.high, found.verdict) == (-1, 1, NOT_SHOWN)


def test_a_constant_difference_has_no_spread_despite_rounding_errors() -> None:
    found = judged(GROUNDED, [(each / 10, each / 10 + 0.2) for each in range(8)])
    assert len({b - a for a, b in [(each / 10, each / 10 + 0.2) for each in range(8)]}) > 1
    assert (found.dz, found.needed, found.wins, found.rank_biserial) == (None, None, 8, 1)
    assert found.interval is not None
    assert found.interval.method == "no_spread"
    assert found.verdict == "B better"
    assert sentence(found, "score", "ask").startswith(
        "B better: mean 0.35 against 0.55, +0.20 [+0.14, +0.26]"
    )


def test_the_same_difference_in_every_pair_is_a_difference() -> None:
    found = judged(COST, [(438.0 + each, 481.0 + each) for each in range(14)])
    assert found.interval is not None
    assert (found.difference, found.interval.method, found.verdict) == (43, "no_spread", "A better")
    assert 34 < found.interval.low < 43 < found.interval.high < 52


def test_values_that_differ_only_by_rounding_are_a_tie() -> None:
    found = judged(GROUNDED, [(0.3, 0.1 + 0.2)] * 6)
    assert (found.ties, found.p, found.difference) == (6, 1, 0)


def test_if_every_value_is_0_no_size_of_a_difference_is_stated() -> None:
    found = judged(COST, [(0.0, 0.0)] * 8)
    assert found.interval is not None
    assert found.interval.method == "all_zero"
    assert sentence(found, "usd", "ask").startswith("no difference shown: mean $0 against $0")


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1, max_size=99))
def test_a_random_table_of_answers_is_tested_as_by_scipy(values: list[tuple[float, float]]) -> None:
    found = judged(AGREES, values)
    wins, losses = values.count((0.0, 1.0)), values.count((1.0, 0.0))
    assert (found.test, found.wins, found.losses) == ("mcnemar", wins, losses)
    expected: Any = scipy.stats.binomtest(wins, wins + losses) if wins + losses else None
    assert found.p == pytest.approx(1.0 if expected is None else expected.pvalue)
    assert found.difference == pytest.approx((wins - losses) / len(values))


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=6, max_size=99))
def test_a_random_table_of_figures_is_summarised_as_by_scipy(values: list[tuple[float, float]]) -> None:
    found = judged(COST, values)
    a, b = [each[0] for each in values], [each[1] for each in values]
    assert found.difference == pytest.approx(float(scipy.stats.tmean(b)) - float(scipy.stats.tmean(a)))
    if len({y - x for x, y in values}) > 1:
        expected: Any = scipy.stats.ttest_rel(b, a).confidence_interval(0.95)
        assert found.interval is not None
        assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))


@given(SHARES)
def test_swapping_the_sides_swaps_the_verdict(values: list[tuple[float, float]]) -> None:
    turned = {A_BETTER: B_BETTER, B_BETTER: A_BETTER}
    one, other = judged(GROUNDED, values), judged(GROUNDED, [(b, a) for a, b in values])
    assert other.verdict == turned.get(one.verdict, one.verdict)
    assert (one.wins, one.losses, one.ties) == (other.losses, other.wins, other.ties)


@given(SHARES)
def test_a_verdict_needs_a_small_p_and_an_interval_that_excludes_zero(
    values: list[tuple[float, float]],
) -> None:
    found = judged(GROUNDED, values)
    if found.verdict in {A_BETTER, B_BETTER}:
        assert found.n >= 6
        assert found.p_holm is not None
        assert found.p_holm < 0.05
        assert found.interval is not None
        assert found.interval.excludes_zero
    assert found.wins + found.ties + found.losses == found.n


@pytest.mark.parametrize(
    ("spread_of", "difference", "pairs"),
    [
        (0.5, 0.1, 197),
        (1.0, 0.1, 785),
        (0.01, 0.1, 6),
        (1.0, 5e-324, 10**12),
        (0.0, 0.1, None),
        (0.5, 0.0, None),
    ],
)
def test_the_number_of_pairs_needed_follows_from_spread_and_difference(
    spread_of: float, difference: float, pairs: int | None
) -> None:
    assert needed_pairs(spread_of, difference) == pairs


def test_more_asks_are_needed_when_asks_of_a_session_are_correlated() -> None:
    values = [(0.1, 0.1 + 0.3 * (each // 10)) for each in range(40)]
    alone = judged(GROUNDED, values).needed
    sessions = [pair for each in range(4) for pair in pairs_of(values[each * 10 : each * 10 + 10], each)]
    clustered = compare(GROUNDED, sessions).needed
    assert alone is not None
    assert clustered is not None
    assert clustered / alone == pytest.approx(10 * (4 / 3) / (40 / 39), rel=0.05)


def test_one_pair_cannot_tell_how_many_are_needed() -> None:
    assert judged(GROUNDED, [(0.1, 0.9)]).needed is None


@pytest.mark.parametrize(
    ("values", "unit", "says"),
    [
        ([(0.0, 1.0)] * 8, "share", "B better: mean 0.00 against 1.00, +1.00 [+0.69, +1.00]; B better in 8"),
        ([(0.5, 0.5)] * 8, "score", "no difference shown (up to ±0.31): mean 0.50 against 0.50, 0.00"),
        ([(0.2, 0.4), (0.2, 0.3)], "score", "about 6 asks would show a difference of 0.10"),
        ([(0.2, 0.4)], "score", "too few: mean 0.20 against 0.40, +0.20 no interval"),
        ([(0.0, 1.0)] * 12, "share", "p < 0.001"),
        ([(0.01, 900.0), (0.02, 1.0)], "ms", "over 1,000,000 asks would show"),
    ],
)
def test_the_sentence_states_what_the_figures_show(
    values: list[tuple[float, float]], unit: str, says: str
) -> None:
    assert says in sentence(judged(COST if unit == "ms" else GROUNDED, values), unit, "ask")


def test_closer_to_the_recording_is_not_called_better() -> None:
    said = sentence(judged(AGREES, [(0, 1)] * 6), "share", "ask")
    assert said.startswith("B agrees more: mean 0.00 against 1.00")
    assert "; B agrees more in 6, less in 0, the same in 0 of 6 asks;" in said
    assert "better" not in said
    assert [each for each in MEASURES if is_closeness(each.name)] == list(OF_THE_RECORDING)


def test_figures_have_their_units() -> None:
    assert figure(None, "usd") == "unknown"
    assert figure(0.00012, "usd") == "$0.00012"
    assert (figure(1234.4, "ms"), figure(0.123, "ms"), figure(0, "ms")) == ("1,234 ms", "0.12 ms", "0 ms")
    assert (figure(1234, "tokens"), figure(2.5, "tokens")) == ("1,234", "2.5")
    assert (signed(-0.5, "score"), signed(None, "score")) == ("−0.50", "unknown")
    assert interval_words(None, "score") == "no interval"
    assert (p_words(None), p_words(0.0312)) == ("no test", "p = 0.031")
    assert verdict_words(judged(GROUNDED, [(0, 1)]), "score") == "too few"


def test_times_are_summarised_by_median_and_95th_percentile() -> None:
    assert spread([]) == SpreadOut(n=0, total=None, p50=None, p95=None)
    found = spread([4, 1, 3, 2])
    assert (found.n, found.total, found.p50) == (4, 10, 2.5)
    assert found.p95 == pytest.approx(3.85)
    assert percentile([7], 0.95) == 7
    assert ratio_of_medians([1, 2, 3], [4, 4, 4]) == 2
    assert ratio_of_medians([0, 0], [1, 1]) is None
    assert ratio_of_medians([], []) is None


def test_a_difference_lost_to_the_correction_is_reported_with_both_p_values() -> None:
    weak = [(0.1 * step, 0.1 * step + (0.2 if step else -0.01)) for step in range(8)]
    one = compare(GROUNDED, pairs_of(weak))
    assert one.p is not None
    assert one.p < SIGNIFICANT
    chance = compare(GROUNDED, pairs_of([(0.5, 0.5)] * 8))
    found = corrected([one, *[chance] * 5])[0]
    assert (found.verdict, found.tests) == ("no difference shown", 6)
    assert f"p = {one.p:.3f}, {found.p_holm:.3f} after Holm's correction for 6 tests" in sentence(
        found, "score", "ask"
    )
    same = replace(found, verdict="no difference shown", p=0.25, p_holm=0.75)
    assert "; p = 0.250, 0.750 after Holm's correction for 6 tests" in sentence(same, "score", "ask")
    small = replace(found, p=0.0001, p_holm=0.0006)
    assert "; p < 0.001, < 0.001 after Holm's correction" in sentence(small, "score", "ask")
    assert "Holm" not in sentence(corrected([one])[0], "score", "ask")
