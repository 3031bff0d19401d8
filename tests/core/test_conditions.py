"""The conditions of --fail-on: how they are written, and when they apply."""

from decimal import Decimal
from typing import Any

import pytest

from timemachine.core.pure.conditions import NAMES, Condition, parse_condition, reasons_to_fail
from timemachine.core.pure.verdicts import CONTEXTS, RETRIEVALS, VERDICTS


def replay(**changes: Any) -> dict[str, Any]:
    """Return a successful replay of three steps, with changes."""
    return {
        "context": {"verified": 3, "altered": 0, "missing": 0, "not_recorded": 0},
        "retrieval": {},
        "verdicts": {"identical": 2},
        "steps": {"total": 3, "failed": 0},
        "cost_usd": 0.02,
        "unknown_cost_calls": 0,
        "uncertain_calls": 0,
    } | changes


def reasons(text: str, **changes: Any) -> list[str]:
    condition = parse_condition(text)
    assert condition is not None
    return reasons_to_fail([condition], replay(**changes))


@pytest.mark.parametrize("name", NAMES)
def test_every_verdict_is_a_condition(name: str) -> None:
    assert parse_condition(name) == Condition(name=name)


def test_every_verdict_on_a_context_retrieval_answer_and_action_is_one() -> None:
    assert set(NAMES) == {*CONTEXTS, *RETRIEVALS, *VERDICTS}


@pytest.mark.parametrize("text", ["numbers differ", "numbers-differ", " Numbers_Differ "])
def test_a_verdict_may_be_written_with_spaces_or_capitals(text: str) -> None:
    assert parse_condition(text) == Condition(name="numbers_differ")


@pytest.mark.parametrize(
    ("text", "most"), [("cost:0.05", "0.05"), ("COST:$1", "1"), ("cost:0", "0"), ("cost:1e-3", "0.001")]
)
def test_a_cost_is_a_condition(text: str, most: str) -> None:
    assert parse_condition(text) == Condition(name="cost", most_usd=Decimal(most))


@pytest.mark.parametrize(
    "text", ["", "worse", "cost", "cost:", "cost:much", "cost:-1", "cost:nan", "cost:inf", "verified2"]
)
def test_anything_else_is_not_a_condition(text: str) -> None:
    assert parse_condition(text) is None


@pytest.mark.parametrize(
    ("text", "changes", "reason"),
    [
        ("altered", {"context": {"altered": 1}}, "altered in 1 step"),
        ("missing", {"context": {"missing": 2}}, "missing in 2 steps"),
        ("identical", {}, "identical in 2 steps"),
        ("numbers_differ", {"verdicts": {"numbers_differ": 1}}, "numbers differ in 1 step"),
        ("reordered", {"retrieval": {"reordered": 1}}, "reordered in 1 step"),
        ("changed", {"verdicts": {"changed": 2}}, "changed in 2 steps"),
        (
            "changed",
            {"retrieval": {"changed": 2}, "verdicts": {"changed": 1}},
            "changed: 2 retrievals, 1 answer",
        ),
        (
            "not_recorded",
            {"context": {"not_recorded": 1}, "verdicts": {"not_recorded": 1}},
            "not recorded: 1 context, 1 answer",
        ),
        ("same", {"retrieval": {"same": 1}, "since": {"same": 3}}, "same in 1 step"),
        ("error", {"verdicts": {"error": 1}}, "error in 1 step"),
        ("error", {"steps": {"total": 3, "failed": 2}}, "error in 2 steps"),
        ("cost:0.01", {}, "the replay cost $0.02, more than $0.01"),
        (
            "cost:0.05",
            {"unknown_cost_calls": 1},
            "the cost of 1 call is not known, so it may be more than $0.05",
        ),
        (
            "cost:0.05",
            {"uncertain_calls": 2},
            "the cost of 2 calls is not known, so it may be more than $0.05",
        ),
    ],
)
def test_a_condition_that_applies_gives_its_reason(text: str, changes: dict[str, Any], reason: str) -> None:
    assert reasons(text, **changes) == [reason]


@pytest.mark.parametrize("text", ["altered", "missing", "error", "changed", "cost:0.02", "cost:1"])
def test_a_condition_that_does_not_apply_is_silent(text: str) -> None:
    assert reasons(text) == []


def test_every_condition_that_applies_is_listed_once() -> None:
    conditions = [
        Condition(name="identical"),
        Condition(name="identical"),
        Condition(name="error"),
        Condition(name="verified"),
    ]
    assert reasons_to_fail(conditions, replay()) == ["identical in 2 steps", "verified in 3 steps"]
