"""Values from records that anyone may have written."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from timemachine.recording.importing.pure import values
from timemachine.recording.sessions.pure.draft import Usage

WHEN = datetime(2026, 3, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.5, Decimal("1.5")), ("0.25", Decimal("0.25")), (0, Decimal(0)), (True, None), (None, None), (-1, None),
     ("much", None), (float("inf"), None), (10**7, None), pytest.param(10**5000, None, id="5000 digits"), (1e-17, Decimal(0))],
)  # fmt: skip
def test_money_is_an_amount_that_can_be_stored(value: Any, expected: Decimal | None) -> None:
    assert values.dollars(value) == expected


@pytest.mark.parametrize(
    ("value", "missing", "expected"),
    [("2026-03-01T10:00:00Z", False, WHEN), ("2026-03-01T11:00:00+01:00", False, WHEN),
     ("2026-03-01T10:00:00", False, None), ("2026-03-01T10:00:00", True, WHEN), ("yesterday", True, None),
     ("0001-01-01T00:00:00Z", False, None), (7, True, None), ("0001-01-01T00:00:00+23:59", True, None)],
)  # fmt: skip
def test_a_time_needs_an_offset_unless_its_format_never_writes_one(
    value: Any, missing: bool, expected: datetime | None
) -> None:
    assert values.moment(value, offset_missing=missing) == expected


@pytest.mark.parametrize(
    ("value", "each", "expected"),
    [(1_772_359_200, 1, WHEN), (1_772_359_200_000, 0.001, WHEN), (None, 1, None), (10**30, 1, None), (-(10**11), 1, None),
     (float("nan"), 1, None)],
)  # fmt: skip
def test_a_numeric_time_is_counted_from_1970(value: Any, each: float, expected: datetime | None) -> None:
    assert values.moment_after_1970(value, seconds_each=each) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(7, 7.0), (1.5, 1.5), (True, None), ("7", None), pytest.param(10**400, None, id="400 digits")],
)
def test_a_number_must_fit_in_a_double(value: Any, expected: float | None) -> None:
    assert values.number(value) == expected


def test_a_duration_is_neither_negative_nor_implausibly_long() -> None:
    assert values.milliseconds(0.25, of_one=1000) == 250
    assert values.milliseconds(-1) is None
    assert values.milliseconds(1e300) is None
    later = WHEN.replace(hour=11)
    assert values.milliseconds_between(WHEN, later) == 3_600_000
    assert values.milliseconds_between(later, WHEN) is None
    assert values.milliseconds_between(None, WHEN) is None
    assert values.milliseconds_between(WHEN, None) is None


def test_json_within_a_text_is_parsed_and_any_other_text_is_unchanged() -> None:
    assert values.parsed_json(' {"a": 1}') == {"a": 1}
    assert values.parsed_json("[1, 2]") == [1, 2]
    assert values.parsed_json("{broken") == "{broken"
    assert values.parsed_json("7") == "7"
    assert values.parsed_json(7) == 7


def test_texts_and_counts_are_found_under_several_names() -> None:
    record = {"a": "", "b": 3, "c": "x", "d": "y" * 1001, "e": True, "f": 7}
    assert values.text_at(record, "a", "b", "c") == "x"
    assert values.text_at(["c"], "c") is None
    assert values.short_text_at(record, "d") is None
    assert values.count_at(record, "e", "c", "f") == 7
    assert values.count_at(None, "f") is None
    assert values.record_at({"a": {"b": {"c": 1}}}, "a", "b") == {"c": 1}
    assert values.record_at({"a": 1}, "a", "b") == {}
    assert values.list_at({"a": [1]}, "a") == [1]
    assert values.list_at(None, "a") == []


def test_a_usage_without_recorded_values_is_none() -> None:
    assert values.usage_of({"in": 3}, read=["in"], written=["out"]) == Usage(input_tokens=3)
    assert values.usage_of({"in": -3}, read=["in"], written=["out"]) is None


@pytest.mark.parametrize("cached", ["5000", -5, 1.5, 10**13])
def test_what_was_read_is_unknown_if_the_cached_part_of_it_is(cached: Any) -> None:
    stated = {"in": 3, "out": 2, "cached": cached}
    found = values.usage_of(stated, read=["in"], written=["out"], cached=["cached"])
    assert found == Usage(output_tokens=2)
    stated["cached"] = None
    found = values.usage_of(stated, read=["in"], written=["out"], cache_write=["cached"])
    assert found == Usage(input_tokens=3, output_tokens=2)


@pytest.mark.parametrize(
    ("stated", "usage", "model", "expected"),
    [
        (0, Usage(input_tokens=1), "acme:m", None),
        (0, Usage(input_tokens=1), None, None),
        (0, Usage(input_tokens=0, output_tokens=0), "acme:m", Decimal(0)),
        (0, None, "acme:m", Decimal(0)),
        (0, Usage(input_tokens=1), "Ollama:qwen3:8b", Decimal(0)),
        (0, Usage(input_tokens=1), "ollama:gpt-oss:120b-cloud", None),
        (0, Usage(input_tokens=1), "openrouter:qwen/qwen3:free", Decimal(0)),
        (0.5, Usage(input_tokens=1), "acme:m", Decimal("0.5")),
        (None, Usage(input_tokens=1), "acme:m", None),
    ],
)
def test_a_cost_of_0_is_kept_only_without_tokens_or_for_what_is_free(
    stated: Any, usage: Usage | None, model: str | None, expected: Decimal | None
) -> None:
    assert values.cost_at_their_price(stated, usage, model) == expected
