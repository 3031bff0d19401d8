"""Words that look like a past time but are not: they remain words of the question, and the reason is reported."""

import pytest

from tests.memory.search.recall.test_time_words import BERLIN, NOW
from timemachine.memory.search.recall.pure.time_words import parse_question

NO_DAY, AHEAD = "this day does not exist", "it is in the future"
BACKWARDS = "it ends before it begins"
EITHER, UNKNOWN = "day and month are ambiguous", "it has no exact date"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("on 31 February", NO_DAY),
        ("31st of June", NO_DAY),
        ("on Feb 30", NO_DAY),
        ("29 February 2025", NO_DAY),
        ("on 2026-13-45", NO_DAY),
        ("in 2026-13", NO_DAY),
        ("on 20/20/2026", NO_DAY),
        ("between 31 June and 3 July", NO_DAY),
        ("between 3 July and 31 September", NO_DAY),
        ("between 10 and 31 June", NO_DAY),
        ("in 2027", AHEAD),
        ("on 2031-05-03", AHEAD),
        ("in 2026-12", AHEAD),
        ("on 20/12/2026", AHEAD),
        ("on 12/20/2026", AHEAD),
        ("December 24, 2026", AHEAD),
        ("next Friday", AHEAD),
        ("next week", AHEAD),
        ("Coming Monday morning", AHEAD),
        ("tomorrow", AHEAD),
        ("the day  after tomorrow", AHEAD),
        ("3 days from now", AHEAD),
        ("on 12/12/2026", AHEAD),
        ("on 0/0/2026", NO_DAY),
        ("on 5/0/2026", NO_DAY),
        ("in 2026-00", NO_DAY),
        ("on 31 \u017feptember", NO_DAY),
        ("on 03/04/2026", EITHER),
        ("between 5 and 3 May", BACKWARDS),
        ("between 5 May and 3 May", BACKWARDS),
        ("between 3 July 2025 and 5 July 2024", BACKWARDS),
        ("between yesterday and 3 days ago", BACKWARDS),
        ("from Monday before Monday", BACKWARDS),
        ("the last 0 days", UNKNOWN),
        ("the week of May", UNKNOWN),
        ("9999 years ago", UNKNOWN),
        ("last quarter", UNKNOWN),
        ("on 2026-05-03 at 25:10", UNKNOWN),
    ],
)
def test_an_invalid_past_time_remains_words_and_the_reason_is_reported(words: str, why: str) -> None:
    question = f"the fee {words}?"
    spoken = parse_question(question, NOW, BERLIN)
    assert (spoken.text, spoken.readings) == (question, ())
    [unread] = spoken.unread
    assert question[unread.start : unread.end] == unread.words
    assert unread.words in words
    assert unread.why == why


@pytest.mark.parametrize(
    "question",
    [
        "in 2048",
        "before 2048",
        "not on 31 June",
        "from 3 to 5 may fail",
        "the next session",
        '"next week"',
        "in May",
    ],
)
def test_numbers_exclusions_and_quotes_are_not_reported(question: str) -> None:
    assert parse_question(question, NOW, BERLIN).unread == ()


def test_parsed_and_unparsed_times_are_reported_together() -> None:
    spoken = parse_question("the fee last week and next week and on 31 June", NOW, BERLIN)
    assert [each.words for each in spoken.readings] == ["last week"]
    assert [each.words for each in spoken.unread] == ["next week", "on 31 June"]
    assert spoken.text == "the fee and next week and on 31 June"
    past = parse_question("the fee last week and next week", NOW, BERLIN, only_past=True)
    assert (len(past.readings), past.unread) == (1, ())


def test_an_unparsed_time_is_reported_once() -> None:
    [unread] = parse_question("the fee next May 2031", NOW, BERLIN).unread
    assert (unread.words, unread.why) == ("May 2031", AHEAD)
