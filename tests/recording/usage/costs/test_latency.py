import math

from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.usage.pure.latency import Latency, latency_of, merge_histograms

STEP = 1.05
WITHIN = 0.0251
durations = st.lists(st.floats(0.001, 10_000_000), min_size=1, max_size=60)


def buckets(took: list[float]) -> dict[int, int]:
    return dict(merge_histograms({math.floor(math.log(each) / math.log(STEP)): 1} for each in took))


@given(durations)
def test_a_quantile_is_within_2_5_percent_of_the_call_at_its_rank(took: list[float]) -> None:
    found, ordered = latency_of(buckets(took), STEP), sorted(took)
    for quantile, percent in ((found.p50_ms, 50), (found.p95_ms, 95)):
        exact = ordered[math.ceil(len(took) * percent / 100) - 1]
        assert quantile is not None
        assert abs(quantile - exact) <= exact * WITHIN
    assert found.timed == len(took)


def test_without_timed_calls_there_is_no_latency() -> None:
    assert latency_of({}, STEP) == Latency(p50_ms=None, p95_ms=None, timed=0)


def test_the_slowest_five_percent_are_beyond_the_95th_percentile() -> None:
    found = latency_of({0: 95, 100: 5}, STEP)
    assert found.p95_ms == found.p50_ms == 1.025
    assert latency_of({0: 94, 100: 6}, STEP).p95_ms == float(f"{STEP**100.5:.4g}")
