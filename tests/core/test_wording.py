from decimal import Decimal

import pytest

from timemachine.core.pure.numbers import (
    counted,
    exact_money,
    money,
    money_or_unknown,
    progress,
    saved,
    spaced,
    total_cost,
)


@pytest.mark.parametrize(
    ("dollars", "written"),
    [
        ("0", "$0"),
        ("4.1", "$4.10"),
        ("0.021", "$0.021"),
        ("0.0005", "$0.0005"),
        ("0.02194", "$0.0219"),
        ("0.5", "$0.50"),
        ("1234.5", "$1,234.50"),
        ("0.05", "$0.05"),
        ("-4.1", "-$4.10"),
        ("0.225", "$0.23"),
        ("0.275", "$0.28"),
        ("0.00125", "$0.00125"),
        ("0.010245", "$0.0102"),
        ("0.0012345", "$0.00123"),
        ("-0.0035", "-$0.0035"),
    ],
)
def test_money_has_as_many_digits_as_it_needs(dollars: str, written: str) -> None:
    assert money(Decimal(dollars)) == written


def test_an_unknown_price_is_never_zero() -> None:
    assert money_or_unknown(None) == "unknown"
    assert money_or_unknown(0) == "$0"
    assert money_or_unknown(0.0213) == "$0.0213"
    assert total_cost(Decimal(0), 1) == "1 call of unknown price"
    assert total_cost(None, 1) == "1 call of unknown price"
    assert total_cost(None, 0) == "not recorded"
    assert total_cost(Decimal(4), 3) == "$4.00 + 3 calls of unknown price"
    assert total_cost(Decimal(4), 0) == "$4.00"


def test_savings_of_a_cache_are_a_sum_or_unknown() -> None:
    assert saved(Decimal(0), 2) == "2 calls of unknown price"
    assert saved(None, 2) == "an unknown cost"


def test_a_count_agrees_with_its_noun_and_a_name_is_written_as_words() -> None:
    assert (counted(1, "call"), counted(2000, "call")) == ("1 call", "2,000 calls")
    assert spaced("numbers_differ") == "numbers differ"


def test_unfinished_items_are_listed_after_the_finished_ones() -> None:
    assert progress(58, "72 answered", {"failed": 0, "not asked": 14}) == "58 of 72 answered, 14 not asked"
    assert progress(1_000, "1,000 steps", {}) == "1,000 of 1,000 steps"


@pytest.mark.parametrize(
    ("dollars", "written"), [(0.125, "$0.125"), (10, "$10.00"), (0.0000003, "$0.0000003"), (0.3, "$0.30")]
)
def test_unit_prices_are_not_rounded(dollars: float, written: str) -> None:
    assert exact_money(dollars) == written


def test_any_amount_has_its_words() -> None:
    assert money(Decimal("1e40")).startswith("$10,000,")
