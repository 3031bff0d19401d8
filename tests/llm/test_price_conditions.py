"""Prices under the conditions that a usage states: known rules are applied, anything else makes the price unknown."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from timemachine.core.pure.unknown_prices import reason_of, reason_words
from timemachine.llm.prices import recorded_price
from timemachine.llm.pure.price_conditions import (
    Conditions,
    price_conditions,
    us_only_factor,
    with_conditions,
)
from timemachine.llm.pure.usage import TokenUsage, anthropic_usage

SEPTEMBER = datetime(2026, 9, 10, 10, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 20, 10, tzinfo=UTC)
OPUS = "anthropic:claude-opus-4-8"
MILLION = {"input_tokens": 1_000_000, "output_tokens": 100_000}


def cost(model: str, usage: dict[str, Any], at: datetime = SEPTEMBER) -> tuple[Decimal | None, str | None]:
    """Return the cost of a call by its raw usage, and the reason if it is unknown."""
    conditions = Conditions.of(price_conditions(usage))
    found = recorded_price(model, anthropic_usage(usage), at, conditions)
    return found.cost_usd, reason_of(found.prices)


KNOWN = [
    (OPUS, {}, "7.5"),
    (OPUS, {"service_tier": "standard", "speed": "standard", "inference_geo": "global"}, "7.5"),
    (OPUS, {"service_tier": None, "speed": "", "inference_geo": "not_available"}, "7.5"),
    (OPUS, {"speed": "fast"}, "15"),
    (OPUS, {"inference_geo": "us"}, "8.25"),
    (OPUS, {"speed": "fast", "inference_geo": "US"}, "16.5"),
    (OPUS, {"service_tier": "batch"}, "3.75"),
    (OPUS, {"service_tier": "batch", "inference_geo": "us"}, "4.125"),
    (OPUS, {"server_tool_use": {"web_search_requests": 50}}, "8"),
    (OPUS, {"server_tool_use": {"web_search_requests": 50}, "inference_geo": "us"}, "8.75"),
    (OPUS, {"server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 9}}, "7.5"),
    (OPUS, {"iterations": [{"type": "message"}, {"type": "message"}]}, "7.5"),
    ("anthropic:claude-opus-4-5", {"inference_geo": "us"}, "7.5"),
    ("anthropic:claude-haiku-4-5", {"service_tier": "batch"}, "0.75"),
    (
        OPUS,
        {
            "input_tokens": 0,
            "cache_creation_input_tokens": 1_000_000,
            "cache_creation": {"ephemeral_5m_input_tokens": 250_000, "ephemeral_1h_input_tokens": 750_000},
        },
        "11.5625",
    ),
    (
        OPUS,
        {
            "input_tokens": 0,
            "cache_creation_input_tokens": 1_000_000,
            "cache_creation": {"ephemeral_1h_input_tokens": 1_000_000},
            "speed": "fast",
        },
        "25",
    ),
]


@pytest.mark.parametrize("at", [SEPTEMBER, NOVEMBER])
@pytest.mark.parametrize(("model", "stated", "expected"), KNOWN)
def test_a_known_condition_changes_the_price(
    model: str, stated: dict[str, Any], expected: str, at: datetime
) -> None:
    assert cost(model, MILLION | stated, at) == (Decimal(expected), None)


def spoken_cost(model: str, usage: dict[str, Any], cached: int | None = None) -> tuple[Decimal | None, Any]:
    """Return the cost of a million tokens read and 100,000 written by the details of their usage, and why it is unknown."""
    counts = TokenUsage(input_tokens=1_000_000, output_tokens=100_000, cached_tokens=cached)
    found = recorded_price(model, counts, NOVEMBER, Conditions.of(price_conditions(usage)))
    return found.cost_usd, (found.prices or {}).get("about")


HEARD = {"prompt_tokens_details": {"audio_tokens": 400_000}}
SAID = {"completion_tokens_details": {"audio_tokens": 50_000}}
OF_GEMINI = {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 600_000}, {"modality": "AUDIO", "tokenCount": 400_000}]}  # fmt: skip


@pytest.mark.parametrize(
    ("model", "usage", "expected"),
    [
        ("openai:gpt-realtime", {}, "5.6"),
        ("openai:gpt-realtime", HEARD, "16.8"),
        ("openai:gpt-realtime", HEARD | SAID, "19.2"),
        ("openai:gpt-realtime", {"usage": {"input_token_details": {"audio_tokens": 400_000}}}, "16.8"),
        ("gemini:gemini-2.5-flash", OF_GEMINI, "0.83"),
        ("gemini:gemini-2.5-flash", {"usage_metadata": {"prompt_tokens_details": [{"modality": "audio", "token_count": 400_000}, 1]}}, "0.83"),
        ("openai:gpt-4o", {"prompt_tokens_details": {"audio_tokens": 0}}, "3.5"),
    ],
)  # fmt: skip
def test_tokens_of_sound_have_prices_of_their_own(model: str, usage: dict[str, Any], expected: str) -> None:
    assert spoken_cost(model, usage) == (Decimal(expected), None)


def test_the_prices_of_sound_are_stored_with_the_call() -> None:
    conditions = Conditions.of(price_conditions(HEARD))
    usage = TokenUsage(input_tokens=1_000_000, output_tokens=0)
    found = recorded_price("openai:gpt-realtime", usage, NOVEMBER, conditions).prices
    assert found is not None
    assert found["per_million_tokens"]["input_audio"] == 32
    assert found["conditions"] == "audio_input_tokens=400000"


@pytest.mark.parametrize(
    ("model", "usage", "cached"),
    [
        ("openai:gpt-4o-audio-preview", HEARD, None),
        ("gemini:gemini-2.5-flash", SAID, None),
        # part of the sound may have been cached
        ("openai:gpt-realtime", HEARD, 10),
    ],
)
def test_sound_without_a_listed_price_has_an_unknown_cost(
    model: str, usage: dict[str, Any], cached: int | None
) -> None:
    cost, about = spoken_cost(model, usage, cached)
    assert (cost, about) == (None, "audio_input_tokens" if usage is HEARD else "audio_output_tokens")


NOT_KNOWN = [
    (OPUS, {"service_tier": "priority"}),
    (OPUS, {"service_tier": "of a later version"}),
    (OPUS, {"speed": "slow"}),
    (OPUS, {"speed": "fast", "service_tier": "batch"}),
    (OPUS, {"inference_geo": "eu"}),
    (OPUS, {"server_tool_use": {"code_execution_requests": 1}}),
    (OPUS, {"iterations": [{"type": "compaction"}, {"type": "message"}]}),
    ("anthropic:claude-opus-4-6", {"speed": "fast"}),
    ("anthropic:claude-haiku-4-5", {"speed": "fast"}),
    ("bedrock:us.anthropic.claude-opus-4-8-v1:0", {"speed": "fast"}),
    ("bedrock:us.anthropic.claude-opus-4-8-v1:0", {"service_tier": "batch"}),
    ("bedrock:us.anthropic.claude-opus-4-8-v1:0", {"inference_geo": "us"}),
    ("bedrock:us.anthropic.claude-opus-4-8-v1:0", {"server_tool_use": {"web_search_requests": 1}}),
    ("bedrock:us.amazon.nova-pro-v1:0", {"serviceTier": {"type": "priority"}}),
    ("azure:gpt-5", {"service_tier": "priority"}),
    ("openai:gpt-5", {"service_tier": "priority"}),  # listed, but only from October on
    ("openai:gpt-5", {"service_tier": "scale"}),
    ("google_vertex:gemini-2.5-pro", {"trafficType": "PROVISIONED_THROUGHPUT"}),
]


@pytest.mark.parametrize(("model", "stated"), NOT_KNOWN)
def test_an_unknown_condition_makes_the_price_unknown_and_never_the_standard_one(
    model: str, stated: dict[str, Any]
) -> None:
    assert cost(model, MILLION | stated) == (None, "condition_not_listed")


LISTED = [
    ({"service_tier": "default"}, "2.25"),
    ({"service_tier": "flex"}, "1.125"),
    ({"gen_ai.openai.response.service_tier": "priority"}, "4.5"),
    ({"service_tier": "batch"}, "1.125"),
]


@pytest.mark.parametrize(("stated", "expected"), LISTED)
def test_tiers_have_the_listed_price_from_its_first_day_on(stated: dict[str, Any], expected: str) -> None:
    assert cost("openai:gpt-5", MILLION | stated, NOVEMBER) == (Decimal(expected), None)


def test_the_prices_say_which_conditions_applied() -> None:
    usage = MILLION | {"inference_geo": "us", "server_tool_use": {"web_search_requests": 2}}
    prices = recorded_price(
        OPUS, anthropic_usage(usage), NOVEMBER, Conditions.of(price_conditions(usage))
    ).prices
    assert prices is not None
    assert prices["conditions"] == "inference_geo=us, web_search_requests=2"
    assert (prices["factor"], prices["per_thousand_web_searches"]) == (1.1, 10)


def test_an_unknown_price_names_the_condition_and_repeats_nothing_of_the_sender() -> None:
    conditions = Conditions.of({"service_tier": "tier of Eva", "speed": "fast"})
    prices = recorded_price(OPUS, anthropic_usage(MILLION), NOVEMBER, conditions).prices
    assert prices == {"source": "unknown", "reason": "condition_not_listed", "about": "service_tier, speed"}
    assert reason_words("condition_not_listed", prices["about"]).endswith("conditions: service_tier, speed")


def test_the_standard_conditions_leave_no_parameters() -> None:
    usage = {
        "service_tier": "standard",
        "speed": "standard",
        "inference_geo": "not_available",
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 3},
        "cache_creation": {"ephemeral_1h_input_tokens": 0},
        "iterations": [],
    }
    assert price_conditions(usage) == {}
    assert Conditions.of({}).words == ""


@pytest.mark.parametrize("usage", [None, 5, "text", [], {"service_tier": 5, "speed": [], "iterations": 3}])
def test_a_malformed_usage_states_nothing(usage: Any) -> None:
    assert price_conditions(usage) == {}


def test_parameters_of_other_senders_are_not_conditions() -> None:
    assert Conditions.of(None) == Conditions()
    assert Conditions.of({"speed": 1.25, "temperature": 1, "billed_extras": "no"}) == Conditions()


def test_what_is_billed_in_addition_is_named_once() -> None:
    usage = {
        "server_tool_use": {"code_execution_requests": 2},
        "iterations": [{"type": "compaction"}, {"type": "compaction"}, {"type": "message"}, {}, 5],
    }
    parameters = price_conditions(usage)
    assert parameters == {"billed_extras": ["code_execution_requests", "compaction iteration"]}
    assert Conditions.of(parameters).words == "billed_extras=code_execution_requests and compaction iteration"


@pytest.mark.parametrize(
    "tools",
    [
        None,
        [],
        [{"type": "web_search_preview_2025_03_11"}],
        [{"type": "web_search"}, {"type": "web_search_preview"}],
    ],
)
def test_searches_have_a_price_only_if_the_answer_says_which_tool_made_them(tools: Any) -> None:
    search = {"type": "web_search_call"}
    assert price_conditions({"output": [search], "tools": tools}) == {"billed_extras": ["web_search_call"]}
    assert price_conditions({"output": [search, search], "tools": [{"type": "web_search"}]}) == {
        "web_search_requests": 2
    }


def test_what_the_answer_states_counts_more_than_what_was_requested() -> None:
    requested = {"service_tier": "flex", "speed": "fast", "temperature": 1}
    answer = {"service_tier": "default", "usage": {"speed": "standard"}}
    assert with_conditions(requested, answer) == {
        "service_tier": "default",
        "speed": "standard",
        "temperature": 1,
    }
    assert with_conditions(requested, {"service_tier": "priority"}) == requested | {
        "service_tier": "priority"
    }
    assert with_conditions(requested, None, {}, {"service_tier": ""}) == requested


def test_us_only_inference_costs_more_from_opus_4_6_on() -> None:
    assert us_only_factor("claude-sonnet-4-6") == Decimal("1.1")
    assert us_only_factor("claude-sonnet-4-5") == 1


def test_a_listed_call_without_input_tokens_is_unknown() -> None:
    usage = TokenUsage(input_tokens=None, output_tokens=5)
    assert reason_of(recorded_price(OPUS, usage, NOVEMBER).prices) == "tokens_not_recorded"
    assert reason_of(recorded_price("anthropic:nobody", usage, NOVEMBER).prices) == "model_not_listed"
