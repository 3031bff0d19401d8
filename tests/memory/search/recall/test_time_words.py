"""Time words in a question: which are parsed, as what, and which are left unchanged."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from timemachine.memory.search.recall.pure.time_words import Reading, parse_question

NOW = datetime(2026, 11, 24, 14, 30, tzinfo=UTC)  # a Tuesday, 15:30 in Berlin
BERLIN = ZoneInfo("Europe/Berlin")


def readings(question: str, now: datetime = NOW, zone: ZoneInfo = BERLIN) -> tuple[Reading, ...]:
    return parse_question(question, now, zone).readings


def local(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment.astimezone(BERLIN):%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("words", "begin", "until"),
    [
        ("today", "2026-11-24 00:00", "2026-11-25 00:00"),
        ("yesterday", "2026-11-23 00:00", "2026-11-24 00:00"),
        ("the day before yesterday", "2026-11-22 00:00", "2026-11-23 00:00"),
        ("yesterday morning", "2026-11-23 05:00", "2026-11-23 12:00"),
        ("yesterday at 14:00", "2026-11-23 14:00", "2026-11-23 14:01"),
        ("yesterday at 3:15 pm", "2026-11-23 15:15", "2026-11-23 15:16"),
        ("yesterday at 3pm", "2026-11-23 15:00", "2026-11-23 16:00"),
        ("this morning", "2026-11-24 05:00", "2026-11-24 12:00"),
        ("last night", "2026-11-23 18:00", "2026-11-24 06:00"),
        ("tonight", "2026-11-24 18:00", "2026-11-25 00:00"),
        ("last Tuesday", "2026-11-17 00:00", "2026-11-18 00:00"),
        ("last tuesday evening", "2026-11-17 18:00", "2026-11-18 00:00"),
        ("on Tuesday", "2026-11-17 00:00", "2026-11-18 00:00"),
        ("last Monday", "2026-11-23 00:00", "2026-11-24 00:00"),
        ("on Sunday", "2026-11-22 00:00", "2026-11-23 00:00"),
        ("Monday last week", "2026-11-16 00:00", "2026-11-17 00:00"),
        ("Sunday of last week", "2026-11-22 00:00", "2026-11-23 00:00"),
        ("this week", "2026-11-23 00:00", "2026-11-30 00:00"),
        ("last week", "2026-11-16 00:00", "2026-11-23 00:00"),
        ("last month", "2026-10-01 00:00", "2026-11-01 00:00"),
        ("this month", "2026-11-01 00:00", "2026-12-01 00:00"),
        ("last year", "2025-01-01 00:00", "2026-01-01 00:00"),
        ("in May", "2026-05-01 00:00", "2026-06-01 00:00"),
        ("in may", "2026-05-01 00:00", "2026-06-01 00:00"),
        ("last May", "2026-05-01 00:00", "2026-06-01 00:00"),
        ("in December", "2025-12-01 00:00", "2026-01-01 00:00"),
        ("in November", "2026-11-01 00:00", "2026-12-01 00:00"),
        ("last November", "2025-11-01 00:00", "2025-12-01 00:00"),
        ("in May 2025", "2025-05-01 00:00", "2025-06-01 00:00"),
        ("March, 2026", "2026-03-01 00:00", "2026-04-01 00:00"),
        ("in 2025", "2025-01-01 00:00", "2026-01-01 00:00"),
        ("on 3 May", "2026-05-03 00:00", "2026-05-04 00:00"),
        ("3rd of May", "2026-05-03 00:00", "2026-05-04 00:00"),
        ("May 3rd", "2026-05-03 00:00", "2026-05-04 00:00"),
        ("on 18 November", "2026-11-18 00:00", "2026-11-19 00:00"),
        ("on 30 Sept", "2026-09-30 00:00", "2026-10-01 00:00"),
        ("18th of November", "2026-11-18 00:00", "2026-11-19 00:00"),
        ("on Dec 5", "2025-12-05 00:00", "2025-12-06 00:00"),
        ("3 Sept 2025", "2025-09-03 00:00", "2025-09-04 00:00"),
        ("May 3, 2025", "2025-05-03 00:00", "2025-05-04 00:00"),
        ("on 2026-05-03", "2026-05-03 00:00", "2026-05-04 00:00"),
        ("on 2026-05-03 at 09:15", "2026-05-03 09:15", "2026-05-03 09:16"),
        ("in 2026-05", "2026-05-01 00:00", "2026-06-01 00:00"),
        ("3 days ago", "2026-11-21 00:00", "2026-11-22 00:00"),
        ("a couple of days ago", "2026-11-22 00:00", "2026-11-23 00:00"),
        ("two weeks ago", "2026-11-09 00:00", "2026-11-16 00:00"),
        ("a month ago", "2026-10-01 00:00", "2026-11-01 00:00"),
        ("a year ago", "2025-01-01 00:00", "2026-01-01 00:00"),
        ("an hour ago", "2026-11-24 13:30", "2026-11-24 15:30"),
        ("8 hours ago", "2026-11-24 05:30", "2026-11-24 09:30"),
        ("in the last 3 days", "2026-11-21 15:30", "2026-11-24 15:30"),
        ("the past hour", "2026-11-24 14:30", "2026-11-24 15:30"),
        ("within the last few hours", "2026-11-24 12:30", "2026-11-24 15:30"),
        ("over the past year", "2025-11-24 15:30", "2026-11-24 15:30"),
        ("in the past month", "2026-10-24 15:30", "2026-11-24 15:30"),
        ("over the past week", "2026-11-17 15:30", "2026-11-24 15:30"),
        ("the past week", "2026-11-17 15:30", "2026-11-24 15:30"),
        ("in the last week", "2026-11-17 15:30", "2026-11-24 15:30"),
        ("within the Last  month", "2026-10-24 15:30", "2026-11-24 15:30"),
        ("since the last week", "2026-11-16 00:00", None),
        ("of the last month", "2026-10-01 00:00", "2026-11-01 00:00"),
        ("the previous month", "2026-10-01 00:00", "2026-11-01 00:00"),
        ("during 2025", "2025-01-01 00:00", "2026-01-01 00:00"),
        ("since 2025", "2025-01-01 00:00", None),
        ("before 2025", None, "2025-01-01 00:00"),
        ("until 2024", None, "2025-01-01 00:00"),
        ("in May of last year", "2025-05-01 00:00", "2025-06-01 00:00"),
        ("last year in May", "2025-05-01 00:00", "2025-06-01 00:00"),
        ("in May this year", "2026-05-01 00:00", "2026-06-01 00:00"),
        ("on Tuesday two weeks ago", "2026-11-10 00:00", "2026-11-11 00:00"),
        ("last week, on Friday", "2026-11-20 00:00", "2026-11-21 00:00"),
        ("after 3 May and before 5 May", "2026-05-04 00:00", "2026-05-05 00:00"),
        ("before 5 May, but after 3 May", "2026-05-04 00:00", "2026-05-05 00:00"),
        ("a year ago today", "2025-11-24 00:00", "2025-11-25 00:00"),
        ("two weeks ago today", "2026-11-10 00:00", "2026-11-11 00:00"),
        ("day before yesterday", "2026-11-22 00:00", "2026-11-23 00:00"),
        ("week of November 16", "2026-11-16 00:00", "2026-11-23 00:00"),
        ("in the week of 18 November", "2026-11-16 00:00", "2026-11-23 00:00"),
        ("half an hour ago", "2026-11-24 14:52", "2026-11-24 15:07"),
        ("on the 20th of last month", "2026-10-20 00:00", "2026-10-21 00:00"),
        ("on the 20th of this month", "2026-11-20 00:00", "2026-11-21 00:00"),
        ("in the first week of November", "2026-11-01 00:00", "2026-11-08 00:00"),
        ("in the third week of May 2025", "2025-05-15 00:00", "2025-05-22 00:00"),
        ("in the last week of October", "2026-10-25 00:00", "2026-11-01 00:00"),
        ("on Sat", "2026-11-21 00:00", "2026-11-22 00:00"),
        ("on Mon", "2026-11-23 00:00", "2026-11-24 00:00"),
        ("last Tues", "2026-11-17 00:00", "2026-11-18 00:00"),
        ("since Thurs", "2026-11-19 00:00", None),
        ("in Jan", "2026-01-01 00:00", "2026-02-01 00:00"),
        ("last Nov", "2025-11-01 00:00", "2025-12-01 00:00"),
        ("from May to July", "2026-05-01 00:00", "2026-08-01 00:00"),
        ("on 20/11/2026", "2026-11-20 00:00", "2026-11-21 00:00"),
        ("on 11/20/2026", "2026-11-20 00:00", "2026-11-21 00:00"),
        ("last 24h", "2026-11-23 15:30", "2026-11-24 15:30"),
        ("in the last 3 d", "2026-11-21 15:30", "2026-11-24 15:30"),
        ("last weekend", "2026-11-21 00:00", "2026-11-23 00:00"),
        ("this weekend", "2026-11-21 00:00", "2026-11-23 00:00"),
        ("the week before last", "2026-11-09 00:00", "2026-11-16 00:00"),
        ("since yesterday", "2026-11-23 00:00", None),
        ("since last Tuesday", "2026-11-17 00:00", None),
        ("after 3 May", "2026-05-04 00:00", None),
        ("before May", None, "2026-05-01 00:00"),
        ("until last week", None, "2026-11-23 00:00"),
        ("between May and July 2026", "2026-05-01 00:00", "2026-08-01 00:00"),
        ("from 3 May to 5 May", "2026-05-03 00:00", "2026-05-06 00:00"),
        ("since Monday until yesterday", "2026-11-23 00:00", "2026-11-24 00:00"),
        ("from last Monday before today", "2026-11-23 00:00", "2026-11-24 00:00"),
    ],
)
def test_time_words_are_parsed_as_a_time_in_the_past(
    words: str, begin: str | None, until: str | None
) -> None:
    spoken = parse_question(f"what did we find out {words}, about the fee?", NOW, BERLIN)
    [reading] = spoken.readings
    assert (local(reading.begin), local(reading.until)) == (begin, until)
    assert words.endswith(reading.words)  # without a standalone article
    assert spoken.text.startswith("what did we find out ")
    assert spoken.text.endswith(", about the fee?")


@pytest.mark.parametrize("next_word", ["better", "together", "haven", "nothing", "tomorrow"])
def test_may_is_a_month_before_a_word_that_only_starts_like_a_verb(next_word: str) -> None:
    [reading] = readings(f"pumps of May {next_word} than before")
    assert (reading.words, local(reading.begin)) == ("of May", "2026-05-01 00:00")
    assert readings("it is one of May be") == ()


def test_times_are_in_utc_and_days_are_those_of_the_zone() -> None:
    [reading] = readings("yesterday")
    assert reading.begin == datetime(2026, 11, 22, 23, tzinfo=UTC)
    [reading] = readings("yesterday", zone=ZoneInfo("UTC"))
    assert reading.begin == datetime(2026, 11, 23, tzinfo=UTC)
    late = datetime(2026, 11, 24, 23, 30, tzinfo=UTC)
    [reading] = readings("today", late)  # it is Wednesday in Berlin
    assert local(reading.begin) == "2026-11-25 00:00"
    [reading] = readings("this weekend", datetime(2026, 11, 29, 12, tzinfo=UTC))
    assert local(reading.begin) == "2026-11-28 00:00"
    [reading] = readings("on 2026-03-29", zone=BERLIN)  # 23 hours long
    assert reading.begin is not None
    assert reading.until is not None
    assert (reading.until - reading.begin).total_seconds() == 23 * 3600


@pytest.mark.parametrize(
    "words",
    [
        "last session",
        "in the last meeting",
        "our previous conversation",
        "during last session",
        "the last chat",
    ],
)
def test_the_previous_session_is_recognised(words: str) -> None:
    spoken = parse_question(f"which fee did we agree {words}?", NOW, BERLIN)
    [reading] = spoken.readings
    assert reading.previous_session
    assert (reading.words, reading.begin, reading.until) == (words, None, None)
    assert spoken.text == "which fee did we agree ?"


@pytest.mark.parametrize(
    ("words", "how"),
    [
        ("before the last session", "before"),
        ("since last session", "after"),
        ("after the previous meeting", "after"),
    ],
)
def test_the_time_before_or_after_a_session_excludes_the_session(words: str, how: str) -> None:
    [reading] = readings(f"what did we find {words}?")
    assert (reading.words, reading.previous_session, reading.how) == (words, True, how)


def test_an_excluded_time_is_not_parsed() -> None:
    assert [each.words for each in readings("the fee on Tuesday, not on Monday")] == ["on Tuesday"]
    assert readings("the fee, not yesterday") == ()
    assert readings("all but not in the last session") == ()


def test_the_beginning_and_end_of_a_month_are_a_third_of_it() -> None:
    [reading] = readings("the fee at the end of last month", zone=ZoneInfo("UTC"))
    assert (local(reading.begin), local(reading.until)) == ("2026-10-01 02:00", "2026-11-01 01:00")
    [reading] = readings("the fee since the end of October", zone=ZoneInfo("UTC"))
    assert reading.begin == datetime(2026, 10, 21, 16, tzinfo=UTC)
    [reading] = readings("the fee in the beginning of June", zone=ZoneInfo("UTC"))
    assert reading.until == datetime(2026, 6, 11, tzinfo=UTC)


def test_several_times_are_all_parsed() -> None:
    assert [each.words for each in readings("in May or in June")] == ["in May", "in June"]
    assert [each.words for each in readings("tonight, on Monday")] == ["tonight", "on Monday"]
    assert [each.words for each in readings("last week, in May")] == ["last week", "in May"]
    assert [each.words for each in readings("since Monday, before May")] == ["since Monday", "before May"]
    words = [each.words for each in readings("compare last week with the last session and in May")]
    assert words == ["last week", "the last session", "in May"]


def test_at_most_a_few_times_are_parsed_and_the_rest_remain_words() -> None:
    assert parse_question("today today today", NOW, BERLIN).text == ""
    spoken = parse_question("fee today " * 1_600, NOW, BERLIN)
    assert len(spoken.readings) == 8
    assert spoken.text.split() == ["fee"] * 8 + ["fee", "today"] * 1_592
    many = "on 31 June " * 1_000
    assert parse_question(f"{many}yesterday", NOW, BERLIN).text == f"{many}yesterday"


@pytest.mark.parametrize("words", ["in 2025 was the fee", "in 2025 this fee", "in 2025?"])
def test_a_year_after_a_preposition_is_a_year_in_any_context(words: str) -> None:
    assert [reading.words for reading in readings(words)] == ["in 2025"]


@pytest.mark.parametrize(
    "question",
    [
        "may I retry the second call?",
        "march on, second try",
        "the second march may fail",
        "in a second attempt",
        "last second change",
        "last-minute fix and last_week table",
        "the last retry, the last error, the last session_id",
        "sunday.py and may.js:42 and app-2026-05-03.log",
        "2026-05-03",
        "friday deploys",
        "May the force be with you",
        "before may be called",
        "in 2048 tokens",
        "in 2000 ms",
        "in 2500",
        "the pool of 2048 connections is exhausted",
        "a batch size of 2048",
        "a timeout of 2000?",
        "listen on 2049",
        "within 2000 milliseconds",
        "over 2000 sessions",
        "between 2000 and 2048",
        "migrate from 2019 to 2022",
        "in 1999 tests passed",
        "the last session cookie",
        "the last chat completion failed",
        "why did the last session expire",
        "on 03/04/2026",
        "on 20/20/2026",
        "on 20/12/2026",
        "the week of May",
        "during the last week of the project",
        "end of the file and start of a line",
        "on sat nav and in mar",
        "before 2048",
        "in 2048",
        "in 2027",
        "on 2031-05-03",
        'the "last week" column and `yesterday`',
        "last sessions",
        "GET /yesterday/report",
        "3 may fail",
        "on march 3 steps",
        "every day and all week",
        "on 2026-13-45",
        "on 31 June",
        "between you and me",
        "from now on",
        "tomorrow",
        "",
    ],
)
def test_a_plain_word_that_looks_like_a_date_is_unchanged(question: str) -> None:
    spoken = parse_question(question, NOW, BERLIN)
    assert spoken.readings == ()
    assert spoken.text == question


def test_a_time_outside_the_calendar_is_not_parsed() -> None:
    assert readings("9999 years ago") == ()
    assert readings("since 9999 years ago") == ()
    assert readings("between 31 June and 3 July") == ()
    assert readings("last night", datetime(1, 1, 1, 0, 30, tzinfo=UTC), ZoneInfo("UTC")) == ()


def test_a_time_at_the_end_of_the_calendar_is_clipped_in_another_zone() -> None:
    [reading] = readings("3 days ago", datetime(1, 1, 4, tzinfo=UTC))
    assert reading.begin == datetime(1, 1, 1, tzinfo=UTC)
    assert reading.until == datetime(1, 1, 1, 23, 6, 32, tzinfo=UTC)
    [reading] = readings("3 days ago", datetime(9999, 12, 31, 23, 30, tzinfo=UTC))
    assert reading.until == datetime(9999, 12, 28, 23, tzinfo=UTC)


LOOKS_LIKE_A_DATE = some.sampled_from(
    ["may", "May", "second", "march", "sun", "august", "fall", "minute", "last", "week", "day", "previous", "session", "ago",
     "parser.js:42", "2026-05-03", "2026", "12", "monday.py", "ERR_CONN_RESET", "“", "…", "?", "\n", '"last week"', "-1"]
)  # fmt: skip
WITHOUT_VOWELS = some.text(some.characters(exclude_characters="aeiouyAEIOUY"))


@given(some.lists(LOOKS_LIKE_A_DATE), WITHOUT_VOWELS)
def test_a_question_without_time_words_is_unchanged(words: list[str], text: str) -> None:
    question = " the fee ".join([text.replace('"', ""), *words])
    spoken = parse_question(question, NOW, BERLIN)
    assert spoken.text == question
    assert spoken.readings == ()


@settings(max_examples=20)
@given(some.text(max_size=100), some.datetimes(timezones=some.just(UTC)))
def test_any_question_at_any_time_is_parsed_without_error(text: str, now: datetime) -> None:
    for reading in parse_question(f"{text} last week {text} 3 days ago", now, BERLIN).readings:
        assert reading.begin is None or reading.until is None or reading.begin <= reading.until


@pytest.mark.parametrize(
    ("words", "count", "passed_over", "how"),
    [
        ("in the last two sessions", 2, 0, ""),
        ("the last 2 sessions", 2, 0, ""),
        ("over our past few meetings", 3, 0, ""),
        ("in the previous a couple of chats", 2, 0, ""),
        ("across the last 12 conversations", 12, 0, ""),
        ("in the session before last", 1, 1, ""),
        ("the meeting before the last one", 1, 1, ""),
        ("during the second to last session", 1, 1, ""),
        ("the next-to-last chat", 1, 1, ""),
        ("before the last three sessions", 3, 0, "before"),
        ("since the session before last", 1, 1, "after"),
        ("last session", 1, 0, ""),
    ],
)
def test_several_previous_sessions_and_an_earlier_one_are_recognised(
    words: str, count: int, passed_over: int, how: str
) -> None:
    spoken = parse_question(f"which fee did we agree {words}?", NOW, BERLIN)
    [reading] = spoken.readings
    assert (reading.words, reading.previous_session, reading.how) == (words, True, how)
    assert (reading.sessions, reading.passed_over) == (count, passed_over)
    assert (spoken.text, spoken.unread) == ("which fee did we agree ?", ())


@pytest.mark.parametrize(
    "words", ["the last two session cookies", "last 0 sessions", "sessions before", "the session before"]
)
def test_other_phrases_do_not_refer_to_an_earlier_session(words: str) -> None:
    assert readings(words) == ()


def test_a_session_before_a_named_time_is_not_the_one_before_the_last() -> None:
    [reading] = readings("the session before last week")
    assert (reading.words, reading.previous_session) == ("before last week", False)
    [reading] = readings("the session before the last session")
    assert (reading.words, reading.how) == ("before the last session", "before")


@pytest.mark.parametrize(
    ("words", "begin", "until"),
    [
        ("between 10 and 20 November", "2026-11-10 00:00", "2026-11-21 00:00"),
        ("from the 3rd to the 5th of May", "2026-05-03 00:00", "2026-05-06 00:00"),
        ("between 3 and 5 Sept 2025", "2025-09-03 00:00", "2025-09-06 00:00"),
        ("between 10 and 30 November", "2026-11-10 00:00", "2026-12-01 00:00"),
        ("between 10 and 30 November 2026", "2026-11-10 00:00", "2026-12-01 00:00"),
    ],
)
def test_two_days_of_one_month_are_the_time_between_them(words: str, begin: str, until: str) -> None:
    spoken = parse_question(f"the fee {words}?", NOW, BERLIN)
    [reading] = spoken.readings
    assert (local(reading.begin), local(reading.until)) == (begin, until)
    assert (reading.words, spoken.text) == (words, "the fee ?")
