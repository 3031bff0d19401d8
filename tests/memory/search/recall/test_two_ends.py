"""Time ranges in a question whose end may be in the future, and the characters in which they are written."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from tests.memory.search.recall.test_time_words import BERLIN, NOW, local, readings
from timemachine.memory.search.recall.pure.time_words import parse_question


@pytest.mark.parametrize(
    ("words", "begin", "until"),
    [
        ("between 20 November and 28 November", "2026-11-20 00:00", "2026-11-29 00:00"),
        ("since 20 November until 27 November", "2026-11-20 00:00", "2026-11-28 00:00"),
        ("from November to January", "2026-11-01 00:00", "2027-02-01 00:00"),
        ("from 10 November before 30 November", "2026-11-10 00:00", "2026-11-30 00:00"),
        ("between 24 November and 24 December", "2026-11-24 00:00", "2026-12-25 00:00"),
        ("between 2026-11-10 and 2026-11-30", "2026-11-10 00:00", "2026-12-01 00:00"),
        ("from Monday to Friday", "2026-11-23 00:00", "2026-11-28 00:00"),
        ("from today until Monday", "2026-11-24 00:00", "2026-12-01 00:00"),
        ("from Friday to Monday", "2026-11-20 00:00", "2026-11-24 00:00"),
        ("between 28 November and 3 December", "2025-11-28 00:00", "2025-12-04 00:00"),
    ],
)
def test_a_current_time_range_ends_at_its_stated_end(words: str, begin: str, until: str) -> None:
    spoken = parse_question(f"the gateway {words}?", NOW, BERLIN)
    [reading] = spoken.readings
    assert (local(reading.begin), local(reading.until)) == (begin, until)
    assert (spoken.text, spoken.unread) == ("the gateway ?", ())


def test_at_the_end_of_the_calendar_no_range_ends_before_it_begins() -> None:
    spoken = parse_question(
        "the gateway between 20 December and 10 January?", datetime(9999, 12, 25, tzinfo=UTC), ZoneInfo("UTC")
    )
    assert spoken.readings == ()


def test_an_hour_skipped_by_the_clock_is_not_parsed() -> None:
    assert readings("on 2026-03-29 at 2am") == ()
    assert readings("on 2026-03-29 at 2am", zone=ZoneInfo("UTC")) != ()


@pytest.mark.parametrize(
    ("words", "count"),
    [("in the last ſix sessions", 6), ("the laſt ſeſſion", 1), ("the last sıx SESSİONS", 6)],
)
def test_letter_variants_can_name_a_session(words: str, count: int) -> None:
    question = f"errors {words}, ſir"
    spoken = parse_question(question, NOW, BERLIN)
    [reading] = spoken.readings
    assert (reading.sessions, reading.words) == (count, question[reading.start : reading.end])
    assert (reading.words, spoken.text) == (words, "errors , ſir")


def test_letter_variants_can_state_a_time() -> None:
    for words, plain in (
        ("on 3 ſeptember", "on 3 september"),
        ("last wee\N{KELVIN SIGN}", "last week"),
        ("sıx days ago", "six days ago"),
        ("ſince the 3rd of Auguſt", "since the 3rd of August"),
        ("between 3 ſept and 5 ſept", "between 3 sept and 5 sept"),
    ):
        [odd], [usual] = readings(f"“{words}”"), readings(f"“{plain}”")
        assert (odd.words, odd.start, odd.end) == (words, usual.start, usual.end)
        assert (odd.begin, odd.until) == (usual.begin, usual.until)


ENDS = some.sampled_from(
    ["3 May", "5 May", "29 February", "10 November", "30 November", "May", "November", "January", "Monday", "Fri", "Tuesday morning",
     "yesterday", "today", "3 days ago", "an hour ago", "the last hour", "last week", "2026-11-10", "10 November 2026", "end of October"]
)  # fmt: skip
MONTHS = some.sampled_from(["February", "May", "November", "December"])
DAYS = some.integers(0, 32)
BETWEEN = some.one_of(
    some.builds("between {} and {} {}".format, DAYS, DAYS, MONTHS),
    some.builds("from {} {} {}".format, ENDS, some.sampled_from(["to", "until", "before"]), ENDS),
    some.builds("the last {} {}".format, DAYS, some.sampled_from(["minutes", "hours", "days", "weeks"])),
)
YEARS = some.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=some.just(UTC))  # noqa: DTZ001


@given(BETWEEN, YEARS, some.sampled_from(["Europe/Berlin", "UTC", "Pacific/Kiritimati"]))
@example("between 10 and 30 November", NOW, "UTC")
@example("from 5 May to 3 May", NOW, "UTC")
def test_any_parsed_range_begins_before_it_ends(words: str, now: datetime, zone: str) -> None:
    spoken = parse_question(f"the fee {words}", now, ZoneInfo(zone))
    for reading in spoken.readings:
        assert reading.begin is None or reading.until is None or reading.begin < reading.until
