"""Prices of the dated, offline list in the package `genai-prices`, under the conditions that a call's usage states."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, Final

from timemachine.core.pure.clock import written
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.priced import Priced, unknown
from timemachine.llm.pure.price_conditions import BATCH_FACTOR, NONE, Conditions, us_only_factor
from timemachine.llm.pure.price_names import ListedName, is_release, with_dashes
from timemachine.llm.pure.usage import TokenUsage

PRICE_LIST = "genai-prices"
MILLION: Final = 1_000_000
_ANTHROPIC: Final = "anthropic"
_SAME_EVERYWHERE: Final = frozenset({"openai", "anthropic"})
_FREE: Final = ":free"
"""Ends the names of OpenRouter's models without cost (https://openrouter.ai/docs/guides/routing/model-variants/free). The
list has them without prices."""
_BATCH: Final = {"processing": "batch"}
_UNITS: Mapping[str, str] = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "cache_write_1h_mtok": "cache_write_1h",
}

_version = cache(version)


def listed_price(
    name: ListedName, usage: TokenUsage, at: datetime, conditions: Conditions = NONE
) -> Priced | None:
    """Return the price of a listed model, an unknown one if the list does not cover the call, None if the model is not listed."""
    if name.provider == "openrouter" and name.model.lower().endswith(_FREE) and conditions == NONE:
        return _without_cost(name, at)
    if usage.input_tokens is None:
        return unknown("tokens_not_recorded") if _entry(name) else None
    simple = conditions == NONE and not usage.cached_tokens and not usage.cache_write_tokens
    flat = _flat(name) if simple else None
    if flat is None or usage.output_tokens is None:
        return _looked_up(name, usage, at, conditions)
    cost = (usage.input_tokens * flat.input + usage.output_tokens * flat.output) / MILLION
    return Priced(cost_usd=cost, prices=flat.prices | {"at": written(at)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flat:
    """A model whose price depends on neither time nor number of tokens, in US dollars per million tokens."""

    input: Decimal
    output: Decimal
    prices: JsonObject


def _without_cost(name: ListedName, at: datetime) -> Priced | None:
    entry = _entry(name)
    if entry is None:
        return None
    provider, model = entry
    prices = {
        "source": PRICE_LIST,
        "version": _version(PRICE_LIST),
        "provider": provider.id,
        "model": model.id,
    }
    units = {"input": 0.0, "output": 0.0}
    return Priced(cost_usd=Decimal(0), prices=prices | {"per_million_tokens": units, "at": written(at)})


@lru_cache(maxsize=1_000)
def _entry(name: ListedName) -> tuple[Any, Any] | None:
    """Return the provider and the model of the list, cached, so that a thousand calls look it up once."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        provider, model = get_snapshot().find_provider_model(name.model, None, name.provider, None)
    except LookupError:
        return None
    if not _sets_its_price(provider, model):
        return None
    asked = name.model.lower()
    is_named = (
        asked == model.id.lower() or _means(model.match, asked) or _means(model.match, with_dashes(asked))
    )
    return (provider, model) if is_named else None


def _sets_its_price(provider: Any, model: Any) -> bool:
    """Return whether the price is that of this provider. The list also finds models of other vendors, at the vendor's own
    price, which only OpenAI's and Anthropic's have everywhere."""
    from genai_prices.data_snapshot import get_snapshot

    same_everywhere = (each.models for each in get_snapshot().providers if each.id in _SAME_EVERYWHERE)
    return any(model is each for models in (provider.models, *same_everywhere) for each in models)


def _means(clause: Any, name: str) -> bool:
    """Return whether a clause means the model with this name. One that knows a part of the name finds others, too."""
    inner = getattr(clause, "or_", None)
    if inner is not None:
        return any(_means(each, name) for each in inner)
    both = getattr(clause, "and_", None)
    if both is not None:
        return all(_means(each, name) for each in both)
    parts = (getattr(clause, each, None) for each in ("starts_with", "contains", "ends_with"))
    part = next((each for each in parts if each is not None), None)
    return clause.is_match(name) and (part is None or is_release(name, part.lower()))


@lru_cache(maxsize=1_000)
def _flat(name: ListedName) -> _Flat | None:
    """Return the two prices of a listed model if they are flat, cached."""
    from genai_prices import Usage

    found = _entry(name)
    if found is None:
        return None
    provider, model = found
    calculated = model.calc_price(Usage(input_tokens=1, output_tokens=1), provider)
    prices = calculated.model_price
    varies = isinstance(model.prices, list) or bool(_tiers(prices, 1))
    if varies or prices.input_mtok is None or prices.output_mtok is None:
        return None
    input_price, output_price = _of_tier(prices.input_mtok, 1), _of_tier(prices.output_mtok, 1)
    if calculated.total_price != (input_price + output_price) / MILLION:  # each request has a price too
        return None
    return _Flat(input=input_price, output=output_price, prices=_recorded_prices(calculated, 1))


def _looked_up(name: ListedName, usage: TokenUsage, at: datetime, conditions: Conditions) -> Priced | None:
    from genai_prices import Usage

    entry = _entry(name)
    if entry is None:
        return None
    provider, model = entry
    context, factor = _applied(provider, model, conditions, at)
    if factor is None or (
        conditions.audio_read and usage.cached_tokens
    ):  # the cached ones may have been sound
        return unknown("condition_not_listed", conditions.names)
    counted = Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens or 0,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens or None,
        input_audio_tokens=conditions.audio_read or None,
        output_audio_tokens=conditions.audio_written or None,
    )
    try:
        found = model.calc_price(counted, provider, genai_request_timestamp=at, price_context=context)
    except ValueError:  # inconsistent counts: more tokens cached than read
        return unknown("tokens_contradict")
    if usage.output_tokens is None and found.model_price.output_mtok is not None:
        return unknown("tokens_not_recorded")
    return _sum(found, usage, at, conditions, factor)


def _sum(found: Any, usage: TokenUsage, at: datetime, conditions: Conditions, factor: Decimal) -> Priced:
    """Return the cost of the tokens and of the searches, which no condition of the tokens changes."""
    prices = _recorded_prices(found, usage.input_tokens or 0) | {"at": written(at)}
    if not _covers(prices["per_million_tokens"], usage):
        return unknown("not_priced_by_token")
    audio = _audio_prices(found.model_price, usage, conditions)
    if audio is None:
        return unknown("condition_not_listed", conditions.names)
    prices["per_million_tokens"] |= audio
    searched = Decimal(0)
    if conditions.web_searches:
        search = found.model_price.web_searches_kcount
        if not isinstance(search, Decimal):
            return unknown("condition_not_listed", conditions.names)
        searched = search * conditions.web_searches / 1_000
        prices["per_thousand_web_searches"] = float(search)
    if conditions.words:
        prices["conditions"] = conditions.words
    if factor != 1:
        prices["factor"] = float(factor)
    return Priced(cost_usd=found.total_price * factor + searched, prices=prices)


def _audio_prices(model_price: Any, usage: TokenUsage, conditions: Conditions) -> Mapping[str, float] | None:
    """Return the prices of the tokens that were sound; None if the list does not have them."""
    spoken = {"input_audio": conditions.audio_read, "output_audio": conditions.audio_written}
    units = {name: getattr(model_price, f"{name}_mtok") for name, tokens in spoken.items() if tokens}
    if any(unit is None for unit in units.values()):
        return None
    return {name: float(_of_tier(unit, usage.input_tokens or 0)) for name, unit in units.items()}


def _applied(
    provider: Any, model: Any, conditions: Conditions, at: datetime
) -> tuple[Mapping[str, str] | None, Decimal | None]:
    """Return the conditions that the list has prices for, and the factor of the others; None if one of them is not known."""
    own = any(model is each for each in provider.models)
    anthropic = provider.id == _ANTHROPIC
    factor = Decimal(1)
    if conditions.inference_geo is not None:
        if not anthropic or conditions.inference_geo != "us":
            return None, None
        factor *= us_only_factor(model.id)
    context = conditions.context
    if conditions.extras or len(context) > 1:  # no vendor sells fast batches, or the like
        return None, None
    if not context:
        return None, factor
    if own and _has_variant(model, context, at):
        return context, factor
    return (None, factor * BATCH_FACTOR) if anthropic and context == _BATCH else (None, None)


def _has_variant(model: Any, context: Mapping[str, str], at: datetime) -> bool:
    return any(
        variant.when == context and (variant.constraint is None or variant.constraint.active(at))
        for variant in model.price_variants or ()
    )


def _recorded_prices(found: Any, input_tokens: int) -> JsonObject:
    """Return the prices as they are stored with a call, except its time."""
    return {
        "source": PRICE_LIST,
        "version": _version(PRICE_LIST),
        "provider": found.provider.id,
        "model": found.model.id,
        "per_million_tokens": {
            name: float(_of_tier(unit, input_tokens))
            for attribute, name in _UNITS.items()
            if (unit := getattr(found.model_price, attribute)) is not None
        },
        **_tiers(found.model_price, input_tokens),
    }


def _of_tier(unit: Any, input_tokens: int) -> Decimal:
    """Return the price of the tier, which applies to all tokens of a call."""
    from genai_prices.types import TieredPrices

    if not isinstance(unit, TieredPrices):
        return Decimal(unit)
    reached = [tier.price for tier in unit.tiers if input_tokens > tier.start]
    return reached[-1] if reached else unit.base


def _tiers(model_price: Any, input_tokens: int) -> JsonObject:
    """Return where the tiers begin, in input tokens, and which one applies to this call, if prices depend on the input."""
    starts = {0} | {
        tier.start for name in _UNITS for tier in getattr(getattr(model_price, name), "tiers", ())
    }
    if len(starts) == 1:
        return {}
    return {"tiers": sorted(starts), "tier": max(start for start in starts if start < max(input_tokens, 1))}


def _covers(units: Mapping[str, float], usage: TokenUsage) -> bool:
    """Return whether the list has a price for each kind of tokens. Some models are priced by the hour or the image."""
    used = {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cache_write_1h": usage.cache_write_1h_tokens,
    }
    return bool(units) and all(name in units for name, tokens in used.items() if tokens)
