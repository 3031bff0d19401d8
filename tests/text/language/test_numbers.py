import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.language.numbers import Number, missing_numbers
from timemachine.text.pure.language.statement import Statement


def numbers(text: str) -> tuple[Number, ...]:
    return Statement(text).numbers


def keys(text: str) -> list[str]:
    return [number.key for number in numbers(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$2 billion", ["2000000000 USD"]),
        ("$2B", ["2000000000 USD"]),
        ("US$2bn", ["2000000000 USD"]),
        ("2,000,000,000", ["2000000000"]),
        ("2 billion dollars", ["2000000000 USD"]),
        ("two billion", ["2000000000"]),
        ("USD 5 and 5 EUR", ["5 USD", "5 EUR"]),
        ("€5, £6, 50 cents", ["5 EUR", "6 GBP", "0.5 USD"]),
        ("$5m, 5m, 5M", ["5000000 USD", "5 m", "5000000"]),
        ("-5, $-5, −$5, +5", ["-5", "-5 USD", "-5 USD", "5"]),
        ("5%, 5 percent, 5 per cent, 50 bps", ["5 %", "5 %", "5 %", "0.5 %"]),
        ("1,500 ms and 1.5 s", ["1.5 s", "1.5 s"]),
        ("5 kg, 5000g", ["5000 g", "5000 g"]),
        ("2 MB, 1 KiB", ["2000000 byte", "1024 byte"]),
        ("10k users, 5x faster", ["10000", "5 times"]),
        ("a 5-minute call", ["300 s"]),
        ("twenty-five of thirty", ["25", "30"]),
        ("2-5 items", ["2", "5"]),
        ("the 5th, 2,5 and .5", ["5", "2", "5", "0.5"]),
        ("1/3 of 10 to 2.50", ["100/3 %", "10", "2.5"]),
        ("7 days is 1 week", ["604800 s", "604800 s"]),
        ("192.168.0.1", ["192.168.0.1"]),
        ("from 12 to $2 million", ["12", "2000000 USD"]),
        ("3 bps is 1 bp times 3 ", ["0.03 %", "0.01 %", "3"]),
    ],
)
def test_amounts_are_normalised(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-20", ["date 2026-11-20"]),
        ("November 20, 2026", ["date 2026-11-20"]),
        ("20th of Nov. 2026", ["date 2026-11-20"]),
        ("11/20/2026 or 20/11/2026", ["date 2026-11-20", "date 2026-11-20"]),
        ("5/6/2026", ["date 2026 5/6"]),
        ("2026-11-20T09:00:00Z", ["date 2026-11-20 09:00Z"]),
        ("2026-11-20 09:00:31+01:00", ["date 2026-11-20 09:00:31+01:00"]),
        ("2026-11-20 09:00", ["date 2026-11-20 09:00"]),
        ("May 5th, in May 2026", ["date --05-05", "date 2026-05"]),
        ("It was in May, and then in June.", ["date --05", "date --06"]),
        ("You may march.", []),
        ("on Friday", ["date Friday"]),
        ("9:00 am, 9am, 09:00, 9 p.m.", ["time 09:00", "time 09:00", "time 09:00", "time 21:00"]),
        ("12:30 PM and 00:30:05", ["time 12:30", "time 00:30:05"]),
        ("99:99", ["99:99"]),
    ],
)
def test_dates_and_times_are_normalised(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "1. First\n  2) second\n(3) third",
        "as said [1] and [2, 3] and [4-6]",
        "passage 2 and Document #3",
        "parser.js:42",
        "GPT-4 and v1.2.3 and sha256",
        "`x = 5`",
        "commit 3f2a9bc4",
        "no number",
    ],
)
def test_list_markers_citations_and_identifiers_are_not_numbers(text: str) -> None:
    assert keys(text) == []


def test_a_number_that_is_the_entire_answer_is_not_a_list_marker() -> None:
    assert keys("5.") == ["5"]


def test_an_indented_number_far_into_a_line_is_not_a_list_marker() -> None:
    assert keys("x" * 50 + " 5. ") == ["5"]


def test_the_word_one_is_uncertain_and_one_million_is_not() -> None:
    assert [(number.key, number.certain) for number in numbers("one of one million")] == [
        ("1", False),
        ("1000000", True),
    ]


def test_a_number_states_where_it_was_written() -> None:
    text = "It cost $2 billion."
    (number,) = numbers(text)
    assert (number.text, text[number.start : number.end]) == ("$2 billion", "$2 billion")


def test_a_number_of_a_million_digits_is_compared_as_written() -> None:
    text = "7" * 1_000_000
    assert keys(text) == [text]


SAME = [
    ("two billion", "$2B"),
    ("2,000,000,000", "two billion dollars"),
    ("2 bn dollars", "$2 billion"),
    ("a dozen eggs", "12 eggs"),
    ("two dozen", "24"),
    ("half a million people", "500,000 people"),
    ("half a dozen", "6"),
    ("two and a half million", "2.5 million"),
    ("one and a half hours", "90 minutes"),
    ("half an hour", "30 minutes"),
    ("a quarter of an hour", "15 minutes"),
    ("50 percent", "50%"),
    ("fifty percent", "50 %"),
    ("half of the staff", "50% of the staff"),
    ("a quarter of users", "25% of users"),
    ("three quarters of users", "75% of users"),
    ("two thirds of users", "2/3 of users"),
    ("one third", "1/3"),
    ("two-thirds", "2/3"),
    ("the fifth day", "the 5th day"),
    ("twenty-first century", "21st century"),
    ("a hundred", "100"),
    ("one hundred and twenty", "120"),
    ("three hundred thousand", "300,000"),
    ("two hundred fifty", "250"),
    ("twelve hundred", "1,200"),
    ("a thousand and one nights", "1,001 nights"),
    ("3 May 2021", "May 3, 2021"),
    ("May 3rd, 2021", "2021-05-03"),
    ("the 3rd of May 2021", "3 May 2021"),
    ("3 minutes", "180 seconds"),
    ("5-10 minutes", "five to ten minutes"),
    ("10–12%", "10 to 12 percent"),
    ("$1.5-2 million", "1.5 million to 2 million dollars"),
    ("two decades", "20 years"),
    ("1½ cups", "1.5 cups"),
    ("½ cup", "1/2 cup"),
    ("1 1/2 cups", "1.5 cups"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_number_is_the_same_in_words_digits_and_other_units(one: str, other: str) -> None:
    assert numbers(one)
    assert not missing_numbers(numbers(one), numbers(other))
    assert not missing_numbers(numbers(other), numbers(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("two billion", "$3B"),
        ("half a million", "half a billion"),
        ("50 percent", "15%"),
        ("the fifth", "the sixth"),
        ("two thirds of users", "one third of users"),
        ("3 minutes", "180 minutes"),
        ("a dozen", "20"),
        ("one hundred and thirty", "120"),
        ("21st", "twenty-second"),
        ("5/4", "4/5"),
    ],
)
def test_different_numbers_are_different(one: str, other: str) -> None:
    assert missing_numbers(numbers(one), numbers(other))


@pytest.mark.parametrize(
    "text",
    [
        "loved ones",
        "a second chance in the second half",
        "third, mix",
        "the first half of the year",
        "a third party",
        "in half",
        "hundreds of people",
        "repeat steps 5 and 6",
    ],
)
def test_words_that_state_no_number_give_none(text: str) -> None:
    assert keys(text) == []


@settings(deadline=None)
@given(st.text(alphabet="0123456789.,$%-+:/ kMbnone[]()Jan", max_size=40))
def test_numbers_in_any_text_have_correct_offsets(text: str) -> None:
    for number in numbers(text):
        assert text[number.start : number.end] == number.text


@pytest.mark.parametrize(
    ("stated", "elsewhere", "expected"),
    [
        ("$2 billion", "2,000,000,000", []),
        ("2,000,000,000", "$2B", []),
        ("$2 billion", "€2 billion", ["$2 billion"]),
        ("5%", "5", ["5%"]),
        ("5", "5%", ["5"]),
        ("5 km", "5 miles", ["5 km"]),
        ("5 and 5", "5", []),
        ("5 and 5", "6", ["5"]),
        ("one", "six", []),
        ("May 2026", "May 5, 2026", []),
        ("in 2026", "on May 5, 2026", []),
        ("May 5", "May 5, 2026", []),
        ("May 5, 2026", "in May 2026", ["May 5, 2026"]),
        ("June 2026", "in June", ["June 2026"]),
        ("9:00", "nine", ["9:00"]),
    ],
)
def test_a_number_is_missing_if_no_other_equals_it(stated: str, elsewhere: str, expected: list[str]) -> None:
    assert [number.text for number in missing_numbers(numbers(stated), numbers(elsewhere))] == expected
