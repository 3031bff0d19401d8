"""Formatting of words, money, times and tables in the terminal."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.cli import formatting
from timemachine.cli.formatting import expiry_time, local
from timemachine.cli.output.table import facts, table, width
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import money, money_or_unknown, total_cost

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("dollars", "shown"),
    [
        (None, "unknown"),
        (0, "$0"),
        (0.0, "$0"),
        (4.1, "$4.10"),
        (1234.567, "$1,234.57"),
        (0.021, "$0.021"),
        (0.5, "$0.50"),
        (0.0005, "$0.0005"),
        (0.000512, "$0.000512"),
        (1e-7, "$0.0000001"),
        (0.996, "$1.00"),
    ],
)
def test_money_shows_its_significant_digits(dollars: float | None, shown: str) -> None:
    assert money_or_unknown(dollars) == shown


@pytest.mark.parametrize(
    ("dollars", "unknown", "shown"),
    [
        (4.1, 0, "$4.10"),
        (0, 0, "$0"),
        (4.1, 3, "$4.10 + 3 calls of unknown price"),
        (0, 1, "1 call of unknown price"),
    ],
)
def test_a_sum_always_shows_calls_of_unknown_price(dollars: float, unknown: int, shown: str) -> None:
    assert total_cost(dollars, unknown) == shown


@given(st.floats(min_value=1e-9, max_value=1e6))
def test_a_nonzero_price_is_never_shown_as_zero(dollars: float) -> None:
    shown = money(dollars)
    assert shown != "$0"
    assert abs(float(shown[1:].replace(",", "")) - dollars) <= max(0.005, dollars * 0.06)


@pytest.mark.parametrize(
    ("text", "hours", "shown"),
    [
        (None, 0, ""),
        ("2026-11-20T09:00:00Z", 0, "2026-11-20 09:00 UTC"),
        ("2026-11-20T09:00:00.123456Z", 1, "2026-11-20 10:00 (09:00 UTC)"),
        ("2026-11-20T23:30:00Z", 1, "2026-11-21 00:30 (2026-11-20 23:30 UTC)"),
        ("2026-11-20T09:00:00+02:00", -5, "2026-11-20 02:00 (07:00 UTC)"),
    ],
)
def test_a_time_is_shown_in_local_time_with_utc(text: str | None, hours: int, shown: str) -> None:
    assert local(text, timezone(timedelta(hours=hours))) == shown


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("30m", "2026-11-20T10:00:00Z"),
        ("12h", "2026-11-20T21:30:00Z"),
        ("14d", "2026-12-04T09:30:00Z"),
        ("2w", "2026-12-04T09:30:00Z"),
        ("2026-12-04T10:00:00+01:00", "2026-12-04T09:00:00Z"),
        ("2026-12-04T10:00:00", "2026-12-04T10:00:00Z"),
        ("2026-12-04", "2026-12-04T23:59:59.999999Z"),
    ],
)
def test_an_expiry_is_a_duration_from_now_or_a_time(text: str, end: str) -> None:
    assert expiry_time(text, NOW) == end


@pytest.mark.parametrize("text", ["", "14", "d", "14 d", "tomorrow", "-3d", "2026-13-04", "999999w", "١d"])
def test_an_invalid_expiry_is_refused_with_the_valid_forms(text: str) -> None:
    with pytest.raises(InvalidInput, match="14d"):
        expiry_time(text, NOW)


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (None, "not recorded"),
        (0, "0 ms"),
        (0.0754, "0.075 ms"),
        (12, "12 ms"),
        (1900, "1.9 s"),
        (125_000, "2 min 5 s"),
        (59_999, "60.0 s"),
    ],
)
def test_a_duration_has_its_unit(milliseconds: float | None, shown: str) -> None:
    assert formatting.duration(milliseconds) == shown


@pytest.mark.parametrize(
    ("usage", "shown"),
    [
        (None, "unknown"),
        ({"input_tokens": None, "output_tokens": None}, "unknown"),
        ({"input_tokens": 1200, "output_tokens": 0, "cached_tokens": None}, "1,200 in, 0 out"),
        (
            {"input_tokens": 1, "output_tokens": 2, "cached_tokens": 3, "reasoning_tokens": 4},
            "1 in, 2 out, 3 cached, 4 reasoning",
        ),
    ],
)
def test_uncounted_tokens_are_unknown_and_zero_is_zero(usage: dict[str, Any] | None, shown: str) -> None:
    assert formatting.tokens(usage) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred", "a␛[31mred"),
        ("bell\a and \x9b2J", "bell␇ and \ufffd2J"),
        ("a\rb\x00", "a␍b␀"),
        ("tab\tand\nline stay", "tab\tand\nline stay"),
        ("Prüfung 🔍", "Prüfung 🔍"),
        ("pay \u202eelloM\u2066", "pay ⟨U+202E⟩elloM⟨U+2066⟩"),
    ],
)
def test_a_recorded_text_cannot_inject_terminal_escapes(text: str, shown: str) -> None:
    assert formatting.visible(text) == shown


def test_a_long_text_is_cut_on_one_line() -> None:
    assert formatting.shortened("one\ntwo   three", 99) == "one two three"
    assert formatting.shortened("a" * 61) == "a" * 59 + "…"


@pytest.mark.parametrize(
    ("sequences", "shown"),
    [([4], "step 4"), ([4, 5, 6], "steps 4 to 6"), ([1000, 1001], "steps 1,000 to 1,001")],
)
def test_consecutive_steps_are_shown_as_a_range(sequences: list[int], shown: str) -> None:
    assert formatting.steps(sequences) == shown


def test_columns_are_aligned_whatever_the_width_of_the_characters() -> None:
    rows = [["日本語", "1"], ["e\u0301t\u00e9", "12,345"], ["x", ""]]
    assert list(table(["name", "count"], rows, right=("count",))) == [
        "name     count",
        "日本語       1",
        "e\u0301t\u00e9     12,345",
        "x",
    ]


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1))
def test_a_table_has_one_line_per_row_without_control_characters(
    rows: list[tuple[str, str]],
) -> None:
    lines = list(table(["a", "b"], rows))
    assert len(lines) == len(rows) + 1
    assert not any("\n" in line or "\x1b" in line for line in lines)


def test_facts_without_a_value_are_omitted() -> None:
    assert list(facts([("name", "a"), ("agent", ""), ("collection", "b\nc")])) == [
        "name        a",
        "collection  b c",
    ]
    assert list(facts([("agent", "")])) == []


def test_wide_characters_take_two_columns_and_accents_none() -> None:
    assert [width(text) for text in ("abc", "日本", "e\u0301", "")] == [3, 4, 1, 0]
