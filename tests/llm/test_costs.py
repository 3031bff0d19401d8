"""The cost of a call at each provider, with its way of counting tokens and the prices of the table, through a server that imitates it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.llm.asking import anthropic_connection, openai_connection, request_to
from tests.stub_model_server import Script, StubModelServer
from timemachine.llm.calling import complete
from timemachine.llm.prices import price
from timemachine.llm.pure.catalogue import resolve
from timemachine.llm.pure.usage import TokenUsage

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
YEARS_FROM_NOW = datetime(2036, 1, 1, tzinfo=UTC)


@pytest.fixture
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        yield server


# name, bare name where one provider alone has such models, US dollars per million tokens read and written
ELEVEN_MODELS = [
    ("openai:gpt-4o-mini", "gpt-4o-mini", "0.15", "0.60"),
    ("openai:gpt-4o", "gpt-4o", "2.50", "10"),
    ("openai:gpt-4.5", "gpt-4.5", "75", "150"),
    ("anthropic:claude-3-haiku", "claude-3-haiku", "0.25", "1.25"),
    ("anthropic:claude-4-sonnet", "claude-4-sonnet", "3", "15"),
    ("anthropic:claude-4-opus", "claude-4-opus", "15", "75"),
    ("gemini:gemini-2.5-flash", "gemini-2.5-flash", "0.30", "2.50"),
    ("gemini:gemini-2.5-pro", "gemini-2.5-pro", "1.25", "10"),
    ("xai:grok-4", "grok-4", "3", "15"),
    ("groq:llama-3.3-70b", None, "0.59", "0.79"),
    ("mistral:mistral-large", "mistral-large", "0.50", "1.50"),
]


@pytest.mark.parametrize("at", [NOW, YEARS_FROM_NOW], ids=["today", "years from now"])
@pytest.mark.parametrize(("name", "bare", "read", "written"), ELEVEN_MODELS)
def test_the_eleven_models_have_their_prices_under_these_names_now_and_in_future(
    name: str, bare: str | None, read: str, written: str, at: datetime
) -> None:
    """A retired model keeps its last price."""
    for model in filter(None, (name, bare)):
        resolved = resolve(model, "local:extractive")
        assert str(resolved) == name
        found = price(resolved, TokenUsage(input_tokens=100_000, output_tokens=0), at)
        assert found.cost_usd == Decimal(read) / 10
        found = price(resolved, TokenUsage(input_tokens=0, output_tokens=100_000), at)
        assert found.cost_usd == Decimal(written) / 10


def openai(read: int, written: int, *, cached: int = 0, thought: int = 0, total: int | None = None) -> Any:
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written if total is None else total,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }


def anthropic(read: int, written: int, *, cached: int = 0, stored: int = 0, for_an_hour: int = 0) -> Any:
    return {
        "cache_creation": {"ephemeral_1h_input_tokens": for_an_hour},
        "input_tokens": read,
        "output_tokens": written,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": stored,
    }


# the sums are in US dollars per million tokens, so the cost is a millionth of them
WORKED = [
    # OpenAI: the cached part of the prompt at the cache's price
    ("openai:gpt-4o-mini", openai(3112, 42), "3112 * 0.15 + 42 * 0.60"),
    ("openai:gpt-4o", openai(10_000, 500, cached=8_192), "1808 * 2.50 + 8192 * 1.25 + 500 * 10"),
    # OpenAI: reasoning is included in the completion
    ("openai:o3", openai(1_000, 900, thought=800), "1000 * 2 + 900 * 8"),
    # Anthropic: cache reads and cache writes are counted separately from the prompt
    (
        "anthropic:claude-4-sonnet",
        anthropic(100, 50, cached=60_000, stored=4_000),
        "100 * 3 + 60000 * 0.30 + 4000 * 3.75 + 50 * 15",
    ),
    ("anthropic:claude-3-haiku", anthropic(1_000, 10), "1000 * 0.25 + 10 * 1.25"),
    # and cache entries kept for an hour have a price of their own
    (
        "anthropic:claude-4-sonnet",
        anthropic(100, 50, stored=4_000, for_an_hour=3_000),
        "100 * 3 + 1000 * 3.75 + 3000 * 6 + 50 * 15",
    ),
    # Gemini: thinking tokens are only in the total, and are billed as output
    ("gemini:gemini-2.5-flash", openai(1_000, 200, total=1_900), "1000 * 0.30 + 900 * 2.50"),
    # Gemini: above 200,000 tokens read, the entire call has the higher prices
    ("gemini:gemini-2.5-pro", openai(200_000, 1_000), "200000 * 1.25 + 1000 * 10"),
    ("gemini:gemini-2.5-pro", openai(200_001, 1_000), "200001 * 2.50 + 1000 * 15"),
    (
        "gemini:gemini-2.5-pro",
        openai(300_000, 1_000, cached=100_000),
        "200000 * 2.50 + 100000 * 0.25 + 1000 * 15",
    ),
    # xAI: reasoning is separate from the completion, in the total
    (
        "xai:grok-4",
        openai(1_000, 50, thought=300, cached=400, total=1_350),
        "600 * 3 + 400 * 0.75 + 350 * 15",
    ),
    # and without a total: details larger than the whole are not part of it
    (
        "xai:grok-4",
        {
            "prompt_tokens": 1_000,
            "completion_tokens": 50,
            "completion_tokens_details": {"reasoning_tokens": 300},
        },
        "1000 * 3 + 350 * 15",
    ),
    ("groq:llama-3.3-70b", openai(1_000, 100), "1000 * 0.59 + 100 * 0.79"),
    ("mistral:mistral-large", openai(1_000, 100), "1000 * 0.50 + 100 * 1.50"),
    ("ollama:llama3.2", openai(1_000, 100), "0"),
]


@pytest.mark.parametrize(("model", "usage", "sum_"), WORKED)
def test_a_call_costs_what_its_provider_bills(
    stub: StubModelServer, model: str, usage: dict[str, Any], sum_: str
) -> None:
    name = resolve(model, "local:extractive")
    connection = anthropic_connection(stub) if name.provider == "anthropic" else openai_connection(stub)
    stub.script(Script(answer="14 days.", usage=usage))
    completion = complete(request_to(connection, model=name))
    assert price(name, completion.usage, NOW, used=completion.model).cost_usd == worked(sum_)


def worked(sum_: str) -> Decimal:
    """Compute a sum of products exactly."""
    products = (part.split("*") for part in sum_.split("+"))
    return sum((Decimal(one) * Decimal("".join(other) or 1) for one, *other in products), Decimal(0)) / 10**6


TIERS = [(200_000, 0, 1.25), (200_001, 200_000, 2.5)]


@pytest.mark.parametrize(("read", "tier", "unit"), TIERS)
def test_the_tier_of_a_call_is_stored_with_it(read: int, tier: int, unit: float) -> None:
    name = resolve("gemini-2.5-pro", "local:extractive")
    found = price(name, TokenUsage(input_tokens=read, output_tokens=1), NOW).prices
    assert found is not None
    assert (found["tiers"], found["tier"]) == ([0, 200_000], tier)
    assert found["per_million_tokens"]["input"] == unit
