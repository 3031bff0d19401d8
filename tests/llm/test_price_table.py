"""The operator's own prices: which entry applies to a model on a day, and what is reported about an unusable file."""

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.core.checks.registry import registry
from pytest_django import Settings

from timemachine.core.pure.errors import InvalidInput, Unavailable
from timemachine.llm.checks import check_prices
from timemachine.llm.prices import price, price_overrides, unit_prices
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.price_table import NO_PRICES, read_table
from timemachine.llm.pure.usage import TokenUsage

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
TOML = b"""
currency = "USD"

[[prices]]
model = "openai:gpt-4o-mini"
input = 0.10
output = 0.50
cache_read = 0.02
note = "our contract"

[[prices]]
model = "openai:gpt-4o-mini"
from = 2026-11-20
input = 0.2
output = 1
reasoning = 2.5

[[prices]]
model = "openai:*"
input = 7
output = 8
cache_write = 9

[[prices]]
model = "claude:claude-3-haiku"
from = "2027-01-01"
input = 1
output = 1

[[prices]]
model = "ollama:*"
input = 0.01
output = 0.03

[[prices]]
model = "house:qwen3"
input = 1
output = 2
"""


@pytest.fixture
def table(tmp_path: Path, settings: Settings) -> Path:
    """Write a file of prices and set the setting to it."""
    file = tmp_path / "prices.toml"
    file.write_bytes(TOML)
    settings.MODEL_PRICES = str(file)
    return file


def named(text: str) -> ModelName:
    provider, _, model = text.partition(":")
    return ModelName(provider=provider, model=model)


def tokens(read: int | None = 1_000_000, written: int | None = 0, **counts: int) -> TokenUsage:
    return TokenUsage(input_tokens=read, output_tokens=written, **counts)


EARLIER = NOW - timedelta(days=1)
APPLIED = [
    ("openai:gpt-4o-mini", EARLIER, "openai:gpt-4o-mini", "0.1"),
    ("openai:gpt-4o-mini", NOW, "openai:gpt-4o-mini", "0.2"),
    ("openai:gpt-4o-mini", NOW + timedelta(days=3650), "openai:gpt-4o-mini", "0.2"),
    ("openai:gpt-4o", NOW, "openai:*", "7"),
    ("openai:no-such-model", NOW, "openai:*", "7"),
    ("ollama:llama3.2", NOW, "ollama:*", "0.01"),
    ("house:qwen3", NOW, "house:qwen3", "1"),
    ("anthropic:claude-3-haiku", datetime(2027, 1, 1, tzinfo=UTC), "anthropic:claude-3-haiku", "1"),
]


@pytest.mark.parametrize(("model", "at", "entry", "cost"), APPLIED)
@pytest.mark.usefixtures("table")
def test_a_model_entry_precedes_a_provider_entry_and_the_latest_start_wins(
    model: str, at: datetime, entry: str, cost: str
) -> None:
    found = price(named(model), tokens(), at)
    assert found.cost_usd == Decimal(cost)
    assert found.prices is not None
    assert (found.prices["source"], found.prices["entry"]) == ("override", entry)


@pytest.mark.usefixtures("table")
def test_what_is_cached_for_an_hour_has_no_price_of_one_s_own() -> None:
    found = price(named("house:qwen3"), tokens(cache_write_tokens=10, cache_write_1h_tokens=4), NOW)
    assert found.cost_usd is None
    assert found.prices is not None
    assert (found.prices["reason"], found.prices["about"]) == (
        "condition_not_listed",
        "cache_write_1h_tokens",
    )


@pytest.mark.usefixtures("table")
def test_a_day_begins_and_ends_in_utc() -> None:
    late = datetime(2026, 11, 19, 23, tzinfo=timezone(-timedelta(hours=5)))
    assert price(named("openai:gpt-4o-mini"), tokens(), late).cost_usd == Decimal("0.2")


@pytest.mark.usefixtures("table")
def test_a_model_without_a_current_entry_has_the_list_price() -> None:
    for model, cost in (("anthropic:claude-3-haiku", "0.25"), ("mistral:mistral-large", "0.5")):
        found = price(named(model), tokens(), NOW)
        assert found.cost_usd == Decimal(cost)
        assert found.prices is not None
        assert found.prices["source"] == "genai-prices"
    assert price(named("house:other"), tokens(), NOW).cost_usd is None
    assert price(named("local:extractive-3"), None, NOW).cost_usd == 0


def test_the_file_and_its_entry_are_stored_with_the_call(table: Path) -> None:
    before = price(named("openai:gpt-4o-mini"), tokens(), EARLIER).prices
    assert before == {
        "source": "override",
        "sha256": sha256(TOML).hexdigest(),
        "entry": "openai:gpt-4o-mini",
        "note": "our contract",
        "at": "2026-11-19T09:00:00Z",
        "per_million_tokens": {"input": 0.1, "output": 0.5, "cache_read": 0.02},
    }
    after = price(named("openai:gpt-4o-mini"), tokens(), NOW).prices
    assert after is not None
    assert after["from"] == "2026-11-20"
    assert json.dumps(after, allow_nan=False)


WORKED = [
    ("openai:gpt-4o-mini", EARLIER, tokens(1000, 100, cached_tokens=400), "0.000118"),  # 600·0.10+400·0.02+50
    ("openai:gpt-4o-mini", NOW, tokens(1000, 100, cached_tokens=400), "0.0003"),  # no price for the cache
    (
        "openai:gpt-4o-mini",
        NOW,
        tokens(1000, 100, reasoning_tokens=60),
        "0.00039",
    ),  # 1000·0.2+40·1+60·2.5
    (
        "openai:gpt-4o",
        NOW,
        tokens(1000, 100, cache_write_tokens=500),
        "0.0088",
    ),  # 500·7+500·9+100·8
]


@pytest.mark.parametrize(("model", "at", "usage", "cost"), WORKED)
@pytest.mark.usefixtures("table")
def test_each_kind_of_token_has_its_own_price_if_given(
    model: str, at: datetime, usage: TokenUsage, cost: str
) -> None:
    assert price(named(model), usage, at).cost_usd == Decimal(cost)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        tokens(None, 5),
        tokens(5, None),
        tokens(5, 5, cached_tokens=3, cache_write_tokens=3),
        tokens(5, 5, reasoning_tokens=6),
    ],
)
@pytest.mark.usefixtures("table")
def test_uncounted_tokens_have_an_unknown_cost_and_never_zero(usage: TokenUsage | None) -> None:
    assert price(named("openai:gpt-4o-mini"), usage, NOW).cost_usd is None
    assert price(named("ollama:llama3.2"), usage, NOW).cost_usd is None


@pytest.mark.usefixtures("table")
def test_both_the_used_and_the_named_model_can_match_an_entry() -> None:
    used = price(named("openai:latest"), tokens(), NOW, used="gpt-4o-mini")
    assert used.cost_usd == Decimal("0.2")
    of_named = price(named("openai:gpt-4o-mini"), tokens(), NOW, used="gpt-4o-mini-2024-07-18")
    assert of_named.cost_usd == Decimal("0.2")


@pytest.mark.usefixtures("table")
def test_unit_prices_are_those_stored_with_a_call() -> None:
    found = unit_prices(named("house:qwen3"), NOW)
    assert found is not None
    assert found["per_million_tokens"] == {"input": 1, "output": 2}
    assert unit_prices(named("house:other"), NOW) is None


def test_a_json_file_gives_the_same_prices(tmp_path: Path, settings: Settings) -> None:
    file = tmp_path / "prices.json"
    entry = {"model": "groq:llama-3.3-70b", "from": "2026-01-01", "input": 0.6, "output": 1}
    file.write_text(json.dumps({"prices": [entry]}))
    settings.MODEL_PRICES = str(file)
    assert price(named("groq:llama-3.3-70b"), tokens(), NOW).cost_usd == Decimal("0.6")


def test_without_the_setting_there_are_no_overrides(settings: Settings) -> None:
    settings.MODEL_PRICES = ""
    assert price_overrides() is NO_PRICES
    assert check_prices(None) == []


GOOD = {"model": "openai:gpt-4o", "input": 1, "output": 2}
BAD: list[tuple[Any, str]] = [
    ([], "it needs a list named `prices`"),
    ({"prices": {}}, "it needs a list named `prices`"),
    ({"prices": [], "model": "x"}, "unknown field `model`; the fields are"),
    ({"prices": [], "currency": "EUR"}, "`currency` must be USD"),
    ({"prices": ["x"]}, "entry 1 cannot be used: it is not an object"),
    ({"prices": [GOOD, GOOD]}, "openai:gpt-4o has two entries"),
    ({"prices": [{**GOOD, "from": "2026-01-01"}] * 2}, "openai:gpt-4o from 2026-01-01 has two entries"),
    (
        {"prices": [GOOD, {**GOOD, "until": "2026"}]},
        "prices.json, entry 2 (openai:gpt-4o) cannot be used: unknown field `until`",
    ),
    ({"prices": [{**GOOD, "note": 5}]}, "`note` must be text"),
    ({"prices": [{**GOOD, "model": "gpt-4o"}]}, "`model` must look like"),
    ({"prices": [{**GOOD, "model": "openai:gpt-*"}]}, "`model` must look like"),
    ({"prices": [{**GOOD, "model": 5}]}, "`model` must look like"),
    ({"prices": [{**GOOD, "model": "local:*"}]}, "always cost nothing"),
    ({"prices": [{**GOOD, "from": "soon"}]}, "`from` must be a date like"),
    ({"prices": [{**GOOD, "from": 2026}]}, "`from` must be a date like"),
    ({"prices": [{"model": "openai:gpt-4o", "input": 1}]}, "`output` must be a number"),
    ({"prices": [{**GOOD, "input": True}]}, "`input` must be a number"),
    ({"prices": [{**GOOD, "cache_read": "0"}]}, "`cache_read` must be a number"),
    ({"prices": [{**GOOD, "cache_write": None}]}, "`cache_write` must be a number"),
    ({"prices": [{**GOOD, "input": -1}]}, "`input` must be between"),
    ({"prices": [{**GOOD, "input": float("nan")}]}, "`input` must be between"),
    ({"prices": [{**GOOD, "output": 1_000_001}]}, "`output` must be between"),
]


@pytest.mark.parametrize(("content", "why"), BAD)
def test_an_unusable_file_is_reported_with_the_entry_and_the_problem(content: Any, why: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_table(json.dumps(content).encode(), "prices.json")
    assert refused.value.code == "bad_prices"
    assert why in refused.value.message
    assert refused.value.message.startswith("The prices in prices.json")


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"{", "p.json", "it cannot be read"),
        (b"[[", "p.toml", "it cannot be read"),
        (b"\xff", "p.toml", "it cannot be read"),
        (b"", "p.yaml", "its name must end in .toml or .json"),
    ],
)
def test_a_file_in_an_unknown_format_is_refused(data: bytes, name: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        read_table(data, name)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("absent.toml", None, "cannot be read"),
        ("broken.toml", "prices = 5", "it needs a list named `prices`"),
    ],
)
def test_startup_with_unusable_prices_fails_a_check(
    tmp_path: Path, settings: Settings, name: str, content: str | None, why: str
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    settings.MODEL_PRICES = str(file)
    assert check_prices in registry.get_checks()
    (found,) = check_prices(None)
    assert (found.id, found.is_serious()) == ("timemachine.E001", True)
    assert why in found.msg
    assert "MODEL_PRICES" in found.msg
    assert str(file) in found.msg
    with pytest.raises(Unavailable) as refused:
        price(named("openai:gpt-4o"), tokens(), NOW)
    assert refused.value.code == "prices_unreadable"


def test_a_relative_path_is_refused(settings: Settings) -> None:
    settings.MODEL_PRICES = "prices.toml"
    with pytest.raises(Unavailable, match="not an absolute path"):
        price_overrides()


def test_the_prices_of_a_provider_include_every_named_model_and_the_default(table: Path) -> None:
    in_force = price_overrides().of_provider("openai", datetime(2026, 11, 21, tzinfo=UTC))
    assert [each.model for each in in_force] == ["openai:gpt-4o-mini", "openai:*"]
    assert in_force[0].per_million_tokens["reasoning"] == Decimal("2.5")
    assert price_overrides().of_provider("anthropic", datetime(2026, 11, 21, tzinfo=UTC)) == ()
