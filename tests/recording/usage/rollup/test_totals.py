from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.usage.pure.totals import NOTHING, Totals, fold

START = datetime(2026, 11, 20, 9, tzinfo=UTC)
moments = st.none() | st.integers(0, 10**9).map(lambda ms: START + timedelta(milliseconds=ms))
counts = st.integers(0, 10**12)
parts = st.builds(
    Totals,
    kinds=st.dictionaries(st.sampled_from(KINDS), st.integers(1, 10**6), max_size=3),
    errors=counts,
    input_tokens=st.none() | counts,
    output_tokens=st.none() | counts,
    cost_usd=st.none() | st.decimals(0, 10**6, places=10),
    unknown_cost_calls=counts,
    cached_calls=counts,
    saved_usd=st.none() | st.decimals(0, 10**6, places=10),
    unknown_saved_calls=counts,
    first=moments,
    last=moments,
)


@given(parts, parts, parts)
def test_adding_totals_is_associative(one: Totals, two: Totals, three: Totals) -> None:
    assert fold([fold([one, two]), three]) == fold([one, fold([two, three])]) == fold([one, two, three])


@given(parts)
def test_adding_nothing_changes_nothing(one: Totals) -> None:
    assert fold([one, NOTHING]) == one == fold([NOTHING, one])


@given(st.lists(parts, max_size=8))
def test_money_adds_up_exactly(several: list[Totals]) -> None:
    priced = [each.cost_usd for each in several if each.cost_usd is not None]
    assert fold(several).cost_usd == (sum(priced, Decimal(0)) if priced else None)
    assert fold(several).actions == sum(each.actions for each in several)
    recorded = [each.tokens for each in several if each.tokens is not None]
    assert fold(several).tokens == (sum(recorded) if recorded else None)


def test_time_runs_from_the_first_start_to_the_last_end() -> None:
    early = Totals(first=START, last=START + timedelta(seconds=3))
    late = Totals(first=START + timedelta(seconds=1), last=START + timedelta(seconds=2))
    assert fold([late, early]).elapsed_ms == 3_000


def test_without_recorded_times_there_is_no_duration() -> None:
    assert fold([Totals(kinds={"ask": 1})]).elapsed_ms is None
    assert Totals(first=START).elapsed_ms is None
