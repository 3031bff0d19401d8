"""The cost of a call: by the list of its day, unknown if the list has no price, zero if nothing was paid."""

import json
import socket
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version

import pytest
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from timemachine.llm import price_list
from timemachine.llm.prices import price
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.price_conditions import NONE
from timemachine.llm.pure.price_names import ListedName
from timemachine.llm.pure.usage import TokenUsage
from timemachine.llm.table import PROVIDERS

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)


def named(text: str) -> ModelName:
    provider, _, model = text.partition(":")
    return ModelName(provider=provider, model=model)


def tokens(read: int | None, written: int | None, **counts: int) -> TokenUsage:
    return TokenUsage(input_tokens=read, output_tokens=written, **counts)


COSTS = [
    ("openai:gpt-4o-mini", tokens(3112, 42), "0.000492"),
    ("openai:gpt-4o-mini", tokens(3112, 19), "0.0004782"),
    ("openai:gpt-4o-mini", tokens(3648, 36), "0.0005688"),
    ("openai:gpt-4o-mini", tokens(1_000_000, 0), "0.15"),
    ("openai:gpt-4o-mini-2024-07-18", tokens(1_000_000, 1_000_000), "0.75"),
    ("openai:gpt-4o-mini", tokens(1_000_000, 0, cached_tokens=1_000_000), "0.075"),
    ("openai:gpt-4.5", tokens(1_000_000, 0), "75"),
    ("anthropic:claude-3-haiku", tokens(1_000_000, 1_000_000), "1.5"),
    (
        "anthropic:claude-4-sonnet",
        tokens(100_000, 0, cached_tokens=60_000, cache_write_tokens=40_000),
        "0.168",
    ),
    ("gemini:gemini-2.5-pro", tokens(200_000, 0), "0.25"),
    ("gemini:gemini-2.5-pro", tokens(200_001, 0), "0.5000025"),
    ("xai:grok-4", tokens(1_000_000, 1_000_000), "18"),
    ("groq:llama-3.3-70b", tokens(1_000_000, 1_000_000), "1.38"),
    ("mistral:mistral-large", tokens(1_000_000, 1_000_000), "2"),
    ("ollama:llama3.2", tokens(5, 5), "0"),
    ("local:extractive-3", None, "0"),
]


@pytest.mark.parametrize(("model", "usage", "cost"), COSTS)
def test_a_call_costs_the_list_price(model: str, usage: TokenUsage | None, cost: str) -> None:
    assert price(named(model), usage, NOW).cost_usd == Decimal(cost)


UNLISTED = [
    ("openai:gpt-4o-mini", None, "tokens_not_recorded"),
    ("openai:gpt-4o-mini", tokens(None, 5), "tokens_not_recorded"),
    ("openai:gpt-4o-mini", tokens(5, None), "tokens_not_recorded"),
    ("openai:gpt-4o-mini", tokens(5, 5, cached_tokens=6), "tokens_contradict"),
    ("openai:no-such-model", tokens(5, 5), "model_not_listed"),
    ("house:gpt-4o-mini", tokens(5, 5), "provider_not_listed"),
    ("openrouter:openai/gpt-4o-mini", tokens(5, 5), "provider_not_listed"),
    ("openai:whisper-1", tokens(5, 5), "not_priced_by_token"),
    ("openai:text-embedding-3-small", tokens(5, 5), "not_priced_by_token"),
    ("mistral:mistral-nemo:free", tokens(5, 5), "not_priced_by_token"),
]


@pytest.mark.parametrize(("model", "usage", "reason"), UNLISTED)
def test_a_call_that_the_list_does_not_cover_has_an_unknown_cost_and_never_zero(
    model: str, usage: TokenUsage | None, reason: str
) -> None:
    found = price(named(model), usage, NOW)
    assert found.cost_usd is None
    assert found.prices is not None
    assert (found.prices["source"], found.prices["reason"]) == ("unknown", reason)


def test_the_unit_prices_the_list_and_its_date_are_stored() -> None:
    assert price(named("openai:gpt-4o-mini"), tokens(3112, 42), NOW).prices == {
        "source": "genai-prices",
        "version": version("genai-prices"),
        "provider": "openai",
        "model": "gpt-4o-mini",
        "at": "2026-11-20T09:00:00Z",
        "per_million_tokens": {"input": 0.15, "output": 0.6, "cache_read": 0.075},
    }


@pytest.mark.parametrize(("read", "unit"), [(200_000, 1.25), (200_001, 2.5)])
def test_the_unit_price_is_that_of_the_tier_of_the_call(read: int, unit: float) -> None:
    prices = price(named("gemini:gemini-2.5-pro"), tokens(read, 1), NOW).prices
    assert prices is not None
    assert prices["per_million_tokens"]["input"] == unit


def test_a_free_call_is_marked_as_local() -> None:
    assert price(named("ollama:llama3.2"), None, NOW).prices == {
        "source": "local",
        "at": "2026-11-20T09:00:00Z",
        "per_million_tokens": {"input": 0, "output": 0},
    }


def test_an_old_call_has_the_price_of_its_day() -> None:
    before, after = (
        price(named("openai:o3"), tokens(1_000_000, 0), datetime(2025, 6, day, tzinfo=UTC)) for day in (9, 10)
    )
    assert (before.cost_usd, after.cost_usd) == (Decimal(10), Decimal(2))


def test_the_used_model_takes_precedence_over_the_named_one() -> None:
    named_latest = named("mistral:mistral-large-latest")
    usage = tokens(1_000_000, 0)
    assert price(named_latest, usage, NOW, used="mistral-large-2512").cost_usd == Decimal("0.5")
    assert (
        price(named_latest, usage, NOW, used="not-on-the-list").cost_usd
        == price(named_latest, usage, NOW).cost_usd
    )


@given(st.integers(0, 190_000), st.integers(0, 100_000), st.integers(0, 190_000))
def test_the_stored_unit_prices_reproduce_the_cost(read: int, written: int, cached: int) -> None:
    cached = min(cached, read)
    for model in ("openai:gpt-4o-mini", "gemini:gemini-2.5-pro", "anthropic:claude-sonnet-5-5"):
        found = price(named(model), tokens(read, written, cached_tokens=cached), NOW)
        assert found.prices is not None
        units = {name: Decimal(str(unit)) for name, unit in found.prices["per_million_tokens"].items()}
        total = (read - cached) * units["input"] + cached * units["cache_read"] + written * units["output"]
        assert found.cost_usd == total / 1_000_000


def test_prices_are_json_and_need_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "getaddrinfo")
    assert json.dumps(price(named("openai:gpt-4o"), tokens(1, 1), NOW).prices, allow_nan=False)


def listed_models() -> list[tuple[str, str]]:
    snapshot = get_snapshot()
    known_providers = {provider.price_provider for provider in PROVIDERS.values()} - {None}
    return [
        (each.id, model.id)
        for each in snapshot.providers
        if each.id in known_providers
        for model in each.models
    ]


@given(st.sampled_from(listed_models()), st.integers(0, 10**7), st.integers(0, 10**6))
def test_an_unconditional_price_equals_that_of_the_list(
    listed: tuple[str, str], read: int, written: int
) -> None:
    provider, model = listed
    at = datetime(2026, 11, 20, 3, 4, tzinfo=UTC)
    usage = TokenUsage(input_tokens=read, output_tokens=written)
    name = ListedName(provider=provider, model=model)
    assert price_list.listed_price(name, usage, at) == price_list._looked_up(name, usage, at, NONE)
