"""When a sign-in has to wait."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.accounts.throttle import OF_ACCOUNT, OF_ADDRESS, OF_SECOND_FACTOR
from timemachine.core.pure.throttle import (
    Failures,
    GrowingDelay,
    Limit,
    add_failure,
    seconds_of_delay,
    seconds_to_wait,
)

PER_ACCOUNT = Limit(most=5, window=timedelta(minutes=15))
PER_ORIGIN = Limit(most=20, window=timedelta(minutes=15))

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
failure_times = st.lists(
    st.floats(min_value=0, max_value=3600).map(lambda ago: NOW - timedelta(seconds=ago)), max_size=40
)


def ago(*minutes: float) -> list[datetime]:
    return [NOW - timedelta(minutes=one) for one in minutes]


@pytest.mark.parametrize(
    ("failures", "limit", "seconds"),
    [
        ([], PER_ACCOUNT, 0),
        (ago(1, 2, 3, 4), PER_ACCOUNT, 0),
        (ago(1, 2, 3, 4, 5), PER_ACCOUNT, 600),
        (ago(5, 4, 3, 2, 1), PER_ACCOUNT, 600),
        (ago(1, 2, 3, 4, 15), PER_ACCOUNT, 0),
        (ago(1, 2, 3, 4, 14.999), PER_ACCOUNT, 1),
        (ago(1, 2, 3, 4, 5, 6, 7), PER_ACCOUNT, 600),
        (ago(0, 0, 0, 0, 0), PER_ACCOUNT, 900),
        (ago(*[1] * 19), PER_ORIGIN, 0),
        (ago(*[1] * 20), PER_ORIGIN, 840),
    ],
)
def test_waiting_ends_when_the_oldest_counted_failure_is_fifteen_minutes_old(
    failures: Sequence[datetime], limit: Limit, seconds: int
) -> None:
    assert seconds_to_wait(failures, limit, NOW) == seconds


@given(failures=failure_times, limit=st.sampled_from([PER_ACCOUNT, PER_ORIGIN]))
def test_after_the_stated_wait_no_further_wait_is_required(failures: list[datetime], limit: Limit) -> None:
    wait = seconds_to_wait(failures, limit, NOW)
    assert 0 <= wait <= limit.window.total_seconds()
    assert seconds_to_wait(failures, limit, NOW + timedelta(seconds=wait)) == 0


@given(failures=failure_times)
def test_only_the_newest_failures_up_to_the_limit_count(failures: list[datetime]) -> None:
    newest = sorted(failures, reverse=True)[: PER_ACCOUNT.most]
    assert seconds_to_wait(failures, PER_ACCOUNT, NOW) == seconds_to_wait(newest, PER_ACCOUNT, NOW)


def test_one_address_may_fail_more_often_than_one_account() -> None:
    assert OF_ADDRESS.free > OF_ACCOUNT.free
    assert OF_ADDRESS.forgets_one_every < OF_ACCOUNT.forgets_one_every


@given(
    pauses=st.lists(st.floats(min_value=0, max_value=7200), max_size=40),
    delay=st.sampled_from([OF_ACCOUNT, OF_ADDRESS, OF_SECOND_FACTOR]),
)
def test_a_growing_delay_has_a_longest_and_all_is_forgotten_in_time(
    pauses: list[float], delay: GrowingDelay
) -> None:
    failures, moment = None, NOW
    for pause in pauses:
        moment += timedelta(seconds=pause)
        failures = add_failure(failures, delay, moment)
    wait = seconds_of_delay(failures, delay, moment)
    assert 0 <= wait <= delay.longest.total_seconds()
    assert seconds_of_delay(failures, delay, moment + timedelta(seconds=wait)) == 0
    assert add_failure(failures, delay, moment + delay.all_forgotten_after).count == 1


def test_codes_of_a_second_factor_are_guessed_at_most_twelve_times_a_day() -> None:
    failures, moment = None, NOW
    for _ in range(100):
        failures = add_failure(failures, OF_SECOND_FACTOR, moment)
        moment += timedelta(seconds=seconds_of_delay(failures, OF_SECOND_FACTOR, moment))
    next_day = moment + timedelta(days=1)
    tries = 0
    while moment < next_day:
        failures = add_failure(failures, OF_SECOND_FACTOR, moment)
        moment += timedelta(seconds=seconds_of_delay(failures, OF_SECOND_FACTOR, moment))
        tries += 1
    assert tries == 12


def test_a_clock_that_was_set_back_adds_no_failures() -> None:
    before = Failures(count=2, last_at=NOW + timedelta(hours=1))
    assert add_failure(before, OF_ACCOUNT, NOW) == Failures(count=3, last_at=NOW)
