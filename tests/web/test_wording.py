from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.safe_text import shown
from timemachine.web.formatting import compact, duration, exact, price, relative, size, until

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (None, "not recorded"),
        (0, "0 ms"),
        (0.2, "0.2 ms"),
        (12, "12 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (1_900, "1.9 s"),
        (59_940, "59.9 s"),
        (59_960, "1 min 00 s"),
        (123_000, "2 min 03 s"),
        (7_380_000, "2 h 03 min"),
        (4e8, "4 d 15 h"),
    ],
)
def test_a_duration_has_its_unit(milliseconds: float | None, words: str) -> None:
    assert duration(milliseconds) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (None, "not recorded"),
        (0, "0"),
        (999, "999"),
        (1_000, "1.0 k"),
        (999_949, "999.9 k"),
        (999_951, "1.0 M"),
        (48_113, "48.1 k"),
        (3 * 10**12, "3000.0 G"),
    ],
)
def test_a_large_count_is_short(number: int | None, words: str) -> None:
    assert compact(number) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (1, "1 byte"), (1023, "1,023 bytes"), (32_768, "32.0 KB"), (5 * 1024**2, "5.0 MB")],
)
def test_a_size_has_its_unit(count: int, words: str) -> None:
    assert size(count) == words


def test_a_unit_price_that_is_not_a_number_is_shown_as_it_is() -> None:
    assert (price(3), price("3 EUR")) == ("$3.00", "3 EUR")
    assert (price(True), price(None), price([3])) == ("True", "None", "[3]")  # noqa: FBT003


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(seconds=-3), "just now"),
        (timedelta(seconds=42), "42 s ago"),
        (timedelta(minutes=3, seconds=59), "3 min ago"),
        (timedelta(hours=-2), "in 2 h"),
        (timedelta(days=5), "5 d ago"),
        (timedelta(days=40), "11 Oct 2026"),
        (timedelta(days=-60), "19 Jan 2027"),
    ],
)
def test_a_time_is_shown_relative_to_now(ago: timedelta, words: str) -> None:
    assert relative(NOW - ago, NOW) == words


@pytest.mark.parametrize(
    ("remaining", "words"),
    [
        (timedelta(days=7) - timedelta(seconds=1), "in 7 d"),
        (timedelta(days=7, hours=11), "in 7 d"),
        (timedelta(days=1, hours=12), "in 2 d"),
        (timedelta(hours=23, minutes=40), "in 1 d"),
        (timedelta(hours=2) - timedelta(milliseconds=1), "in 2 h"),
        (timedelta(minutes=59, seconds=40), "in 1 h"),
        (timedelta(minutes=1, seconds=20), "in 1 min"),
        (timedelta(seconds=59), "in under a minute"),
        (timedelta(seconds=3), "in under a minute"),
        (timedelta(seconds=-3), "just now"),
        (timedelta(minutes=-90), "1 h ago"),
        (timedelta(days=40), "30 Dec 2026"),
    ],
)
def test_the_remaining_time_is_rounded_to_the_nearest_unit(remaining: timedelta, words: str) -> None:
    assert until(NOW + remaining, NOW) == words


def test_the_exact_time_is_in_utc_with_milliseconds() -> None:
    assert exact(NOW + timedelta(microseconds=123_999)) == "2026-11-20 09:00:00.123 UTC"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain é 🕰 👩‍🚀\n\ttext", "plain é 🕰 👩‍🚀\n\ttext"),
        ("a\x00b", "a⟨NUL⟩b"),
        ("\x1b[31mred", "⟨ESC⟩[31mred"),
        ("gpj.\u202eexe", "gpj.⟨U+202E⟩exe"),
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("half \ud83d", "half ⟨U+D83D⟩"),
        ("win\r\nmac\runix\n", "win\nmac⟨CR⟩unix\n"),
        ("a\u200bb\ufeff\x85", "a⟨U+200B⟩b⟨U+FEFF⟩⟨U+0085⟩"),
        ("<script>&", "<script>&"),
        ("Z" + "\u0301\u0489" * 4 + "z", "Z" + "\u0301\u0489" * 4 + "z"),
        ("Z" + "\u0301\u0489" * 5 + "z", "Z" + "\u0301\u0489" * 4 + "⟨2 more marks⟩z"),
    ],
)
def test_no_character_of_a_recording_hides_or_reorders_others(text: str, seen: str) -> None:
    assert shown(text) == seen


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_can_be_sent_to_a_browser_once_it_is_escaped(text: str) -> None:
    seen = shown(text)
    seen.encode("utf-8")
    assert shown(seen) == seen
