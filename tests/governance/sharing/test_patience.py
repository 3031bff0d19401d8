"""How long an attempt has to wait."""

from datetime import UTC, datetime, timedelta

import pytest

from timemachine.core.pure.throttle import Limit, seconds_to_wait

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
LIMIT = Limit(most=3, window=timedelta(minutes=1))


@pytest.mark.parametrize(
    ("seconds_ago", "wait"),
    [
        ((), 0),
        ((1, 2), 0),
        ((1, 2, 60), 0),
        ((1, 2, 59), 1),
        ((10, 20, 30), 30),
        ((30, 20, 10), 30),
        ((0, 0, 0), 60),
        ((1, 2, 3, 50), 57),
        ((1, 2, 59.5), 1),
    ],
)
def test_the_next_attempt_waits_until_the_window_has_room(seconds_ago: tuple[float, ...], wait: int) -> None:
    failures = [NOW - timedelta(seconds=each) for each in seconds_ago]
    assert seconds_to_wait(failures, LIMIT, NOW) == wait
