from typing import Any

import pytest

from timemachine.recording.sessions.pure.corrections import (
    correction_prices,
    is_correction,
    unknown_cost_calls,
)

LISTED = {"source": "genai-prices"}
UNLISTED = {"source": "unknown", "reason": "model_not_listed"}


def change(prices: Any, kind: str = "event") -> int:
    return unknown_cost_calls(
        kind, model="m", cost_usd=None, input_tokens=1, output_tokens=None, prices=prices
    )


@pytest.mark.parametrize(
    ("was", "now", "number"), [(True, False, -1), (True, True, 0), (False, True, 1), (False, False, 0)]
)
def test_a_correction_changes_the_number_of_calls_of_unknown_cost(was: bool, now: bool, number: int) -> None:
    prices = correction_prices(UNLISTED if now else LISTED, was=was, before=UNLISTED, now=now)
    assert is_correction("event", prices)
    assert change(prices) == number
    assert prices["correction"].get("reason") == ("model_not_listed" if was else None)


def test_without_a_recorded_reason_a_correction_has_none() -> None:
    assert correction_prices(None, was=True, before=None, now=False) == {"correction": {"unknown_calls": -1}}


@pytest.mark.parametrize("malformed", [{}, {"unknown_calls": 7}, {"unknown_calls": True}, "none", None])
def test_a_malformed_correction_changes_nothing(malformed: object) -> None:
    assert change({"correction": malformed}) == 0


@pytest.mark.parametrize("prices", [None, UNLISTED])
def test_any_other_step_of_unknown_cost_is_one_call(prices: object) -> None:
    assert not is_correction("event", prices)
    assert change(prices) == 1


def test_only_an_event_is_a_correction() -> None:
    prices = correction_prices(None, was=True, before=None, now=False)
    assert not is_correction("llm_call", prices)
    assert change(prices, "llm_call") == 1
