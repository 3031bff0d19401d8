"""The tokens and costs of Langfuse: its buckets exclude each other."""

from decimal import Decimal
from typing import Any

import pytest

from tests.recording.otel.spans.made import span
from timemachine.recording.otel.pure.drafts import draft_of
from timemachine.recording.otel.pure.usage_buckets import cost_of_buckets, usage_of_buckets
from timemachine.recording.sessions.pure.draft import Usage


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        (
            {"input": 10, "cache_read_input_tokens": 90, "input_audio": 5, "output": 7, "total": 112},
            Usage(input_tokens=105, output_tokens=7, total_tokens=112, cached_tokens=90),
        ),
        (
            {"input": 100, "input_cached_tokens": 80, "output": 20, "total": 120},
            Usage(input_tokens=100, output_tokens=20, total_tokens=120, cached_tokens=80),
        ),
        (
            {"input": 85, "output": 29, "prompt_details.cache_read": 0, "total": 114},
            Usage(input_tokens=85, output_tokens=29, total_tokens=114, cached_tokens=0),
        ),
        (
            {"output": 5, "output_reasoning_tokens": 3, "input_cached_tokens": 2, "input_x": "?"},
            Usage(input_tokens=2, output_tokens=8, cached_tokens=2, reasoning_tokens=3),
        ),
        (
            {"promptTokens": 4, "completionTokens": 1, "totalTokens": 5},
            Usage(input_tokens=4, output_tokens=1, total_tokens=5),
        ),
        (
            {
                "input": 10,
                "cache_creation_input_tokens": 7,
                "input_cache_creation_5m": 20,
                "input_cache_creation_1h": 300,
            },
            Usage(input_tokens=337, cache_write_tokens=327),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 80},
                "completion_tokens_details": {"reasoning_tokens": 15},
            },
            Usage(
                input_tokens=100, output_tokens=20, total_tokens=120, cached_tokens=80, reasoning_tokens=15
            ),
        ),
        (
            {"input_tokens": 100, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 80}},
            Usage(input_tokens=100, output_tokens=20, cached_tokens=80),
        ),
        ({}, None),
    ],
)
def test_the_buckets_of_langfuse_exclude_each_other(details: dict[str, Any], expected: Usage | None) -> None:
    assert usage_of_buckets(details) == expected


def test_tokens_that_langfuse_counts_as_cached_for_an_hour_have_their_own_price() -> None:
    details = '{"input": 10, "output": 50, "input_cache_creation_5m": 20, "input_cache_creation_1h": 300}'
    found = draft_of(
        span({"langfuse.observation.type": "generation", "langfuse.observation.usage_details": details})
    )
    assert found.parameters == {"cache_write_1h_tokens": 300}
    assert found.usage == Usage(input_tokens=330, output_tokens=50, cache_write_tokens=320)


def test_the_costs_of_langfuse_are_added_up_without_a_total() -> None:
    assert cost_of_buckets({"input": 0.5, "output": 0.25}) == 0.75
    assert cost_of_buckets({"input": 0.5, "total": 0.6}) == 0.6
    assert cost_of_buckets({"input": "?"}) is None


def test_the_details_and_costs_of_langfuse_in_a_span() -> None:
    found = draft_of(
        span(
            {
                "langfuse.observation.type": "generation",
                "langfuse.observation.usage_details": '{"input": 10, "cache_read_input_tokens": 9000, "output": 50}',
                "langfuse.observation.cost_details": '{"input": 0.5, "output": 0.25}',
            }
        )
    )
    assert found.usage == Usage(input_tokens=9010, output_tokens=50, cached_tokens=9000)
    assert found.cost_usd == Decimal("0.75")
