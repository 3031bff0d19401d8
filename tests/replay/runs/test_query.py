"""The query of a repeated search: as recorded, except for what the options change."""

import math
from typing import Any

import pytest

from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.retrieval import repeated_query

THRESHOLDS = {"relative": 0.6, "cliff": 0.3, "floor": 0.1}
ADAPTIVE = {
    "mode": "semantic",
    "top_k": 5,
    "adaptive": True,
    "min_score": 0.1,
    "thresholds": THRESHOLDS,
    "embedding_model": "then",
}


def query_of(recorded: Any, **options: Any) -> dict[str, Any]:
    found = repeated_query("q", recorded, ReplayOptions(**options), ["now", "then"])
    return {name: getattr(found, name) for name in USUAL}


USUAL = {
    "mode": "hybrid",
    "top_k": 8,
    "adaptive": False,
    "min_score": None,
    "relative": None,
    "cliff": None,
    "embedding_model": None,
}
AS_RECORDED = {
    "mode": "semantic",
    "top_k": 5,
    "adaptive": True,
    "min_score": 0.1,
    "relative": 0.6,
    "cliff": 0.3,
    "embedding_model": None,
}


@pytest.mark.parametrize(
    ("recorded", "options", "expected"),
    [
        (None, {}, USUAL),
        ({}, {"top_k": 3}, USUAL | {"top_k": 3}),
        (ADAPTIVE, {}, AS_RECORDED),
        (ADAPTIVE, {"as_of": "recorded"}, AS_RECORDED | {"embedding_model": "then"}),
        (ADAPTIVE | {"embedding_model": "gone"}, {"as_of": "recorded"}, AS_RECORDED),
        (ADAPTIVE, {"embedding_model": "now"}, AS_RECORDED | {"embedding_model": "now"}),
        (ADAPTIVE, {"cliff": 0.0}, AS_RECORDED | {"cliff": 0.0}),
        (
            ADAPTIVE,
            {"search_mode": "hybrid"},
            AS_RECORDED | {"mode": "hybrid", "min_score": None, "relative": None, "cliff": None},
        ),
        (
            ADAPTIVE,
            {"search_mode": "lexical", "min_score": 2.0, "as_of": "recorded"},
            AS_RECORDED | {"mode": "lexical", "min_score": 2.0, "relative": None, "cliff": None},
        ),
        (
            ADAPTIVE,
            {"adaptive": False},
            AS_RECORDED | {"adaptive": False, "min_score": None, "relative": None, "cliff": None},
        ),
        (ADAPTIVE, {"adaptive": True}, AS_RECORDED | {"top_k": 100}),
        (ADAPTIVE, {"pool": 40}, AS_RECORDED | {"top_k": 40}),
        ({"top_k": 5}, {"pool": 40}, USUAL | {"top_k": 5}),
        ({"top_k": 5}, {"adaptive": True, "pool": 40}, USUAL | {"adaptive": True, "top_k": 40}),
        ({"top_k": 5}, {"adaptive": True, "top_k": 20}, USUAL | {"adaptive": True, "top_k": 20}),
        ({"top_k": 5}, {"adaptive": True, "top_k": 20, "pool": 10}, USUAL | {"adaptive": True, "top_k": 10}),
    ],
)
def test_a_search_is_repeated_as_recorded_except_for_changes(
    recorded: Any, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert query_of(recorded, **options) == expected


@pytest.mark.parametrize(
    "strange",
    [
        {"thresholds": "high"},
        {"thresholds": {"relative": 7, "cliff": True}},
        {"min_score": "low", "top_k": True, "mode": 3},
        {"min_score": math.nan},
    ],
)
def test_invalid_values_recorded_by_another_tool_are_ignored(strange: dict[str, Any]) -> None:
    found = query_of({"mode": "hybrid", "adaptive": True} | strange)
    assert found == USUAL | {"adaptive": True}
