"""What fits within a spend limit."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.replay.runs.pure.budget import Budget

NOW, LATER, NEVER = "now", "later", "never"


def budget_of(
    limit: str, spent: str = "0", reserved: str = "0", unknown: int = 0, uncertain: str = "0"
) -> Budget:
    return Budget(
        limit=Decimal(limit),
        spent=Decimal(spent),
        reserved=Decimal(reserved),
        unknown=unknown,
        uncertain=Decimal(uncertain),
    )


@pytest.mark.parametrize(
    ("held", "cost", "expected"),
    [
        (budget_of("1"), "1", NOW),
        (budget_of("1"), "1.01", NEVER),
        (budget_of("1", spent="0.5", reserved="0.3"), "0.2", NOW),
        (budget_of("1", spent="0.5", reserved="0.3"), "0.21", LATER),
        (budget_of("1", spent="0.5", reserved="0.3"), "0.51", NEVER),
        (budget_of("1", spent="2"), "0", NOW),
        (budget_of("0"), "0", NOW),
        (budget_of("0"), None, NEVER),
        (budget_of("1"), None, NOW),
        (budget_of("1", unknown=1), None, LATER),
        (budget_of("1", reserved="1"), None, LATER),
        (budget_of("1", spent="1"), None, NEVER),
        (budget_of("1", unknown=1), "0.5", NOW),
        (budget_of("1", spent="0.2", uncertain="0.3"), "0.5", NOW),
        (budget_of("1", spent="0.2", uncertain="0.3"), "0.51", NEVER),
        (budget_of("1", uncertain="1"), None, NEVER),
    ],
)
def test_a_call_starts_if_it_fits_with_spent_and_reserved_costs(
    held: Budget, cost: str | None, expected: str
) -> None:
    expected_cost = None if cost is None else Decimal(cost)
    assert held.fits(expected_cost) == (expected == NOW)
    assert held.may_fit_later(expected_cost) == (expected != NEVER)


@given(limit=st.decimals(0, 10, places=4), costs=st.lists(st.decimals(0, 3, places=4), max_size=30))
def test_calls_with_the_expected_cost_never_exceed_the_limit(limit: Decimal, costs: list[Decimal]) -> None:
    spent = reserved = Decimal(0)
    for number, cost in enumerate(costs):
        if Budget(limit=limit, spent=spent, reserved=reserved, unknown=0).fits(cost):
            reserved += cost
        if number % 3 == 0:
            spent, reserved = spent + reserved, Decimal(0)
    assert spent + reserved <= limit


def test_the_reason_states_spent_and_expected_cost() -> None:
    held = budget_of("0.003", spent="0.0029")
    assert held.refusal(Decimal("0.0004"), "replay") == (
        "The spend limit of this replay was reached: $0.0029 of $0.003 is spent, so the call was not made; "
        "it is expected to cost $0.0004."
    )
    uncertain = budget_of("0.003", spent="0.001", uncertain="0.0019")
    assert "$0.001 of $0.003 is spent and $0.0019 more may have been billed, so" in uncertain.refusal(
        Decimal("0.0004"), "replay"
    )
    assert held.refusal(None, "replay").endswith("; its cost is unknown.")


def test_the_calls_of_two_replays_add_up_under_one_limit() -> None:
    mine = budget_of("5", spent="1", reserved="0.5", unknown=1, uncertain="0.1")
    other = budget_of("9", spent="2", reserved="0.25", unknown=2, uncertain="0.2")
    assert mine.plus(other) == budget_of("5", spent="3", reserved="0.75", unknown=3, uncertain="0.3")
