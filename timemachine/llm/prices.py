"""The cost of model calls, by the prices of their day. Unknown costs are unknown, never 0.

The operator's own prices, from the file that MODEL_PRICES names, come first, then the dated, offline list in the `genai-prices`
package: no network is used. Unit prices are stored with every call, so a later list never changes what was recorded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import InvalidInput, TimeMachineError, Unavailable
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.llm.pure.completion import TokenUsage
from timemachine.llm.pure.price_table import NO_PRICES, PriceEntry, PriceTable, read_table
from timemachine.llm.pure.usage import charge
from timemachine.llm.table import PROVIDERS

PRICE_LIST = "genai-prices"
OVERRIDE = "override"
FREE_PROVIDERS = frozenset({LOCAL, "ollama"})
"""Providers of models on one's own machines. A call costs nothing, unless the operator set a price."""

# common names, and their names in the list
ALIASES: Mapping[tuple[str, str], str] = {
    ("openai", "gpt-4.5"): "gpt-4.5-preview",
    ("groq", "llama-3.3-70b"): "llama-3.3-70b-versatile",
    ("mistral", "mistral-large"): "mistral-large-2512",
}
MILLION: Final = 1_000_000
_UNITS: Mapping[str, str] = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "cache_write_1h_mtok": "cache_write_1h",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """The exact cost in US dollars and the unit prices used. Both are None if the cost is unknown.

    `prices` is JSON: `source` (`override`, `genai-prices` or `local`), `at` (the time of the prices) and
    `per_million_tokens` (those known of `input`, `output`, `cache_read`, `cache_write`, `cache_write_1h`, `reasoning`,
    in US dollars). From the list it also has the `version`, and `provider` and `model` as listed; if prices depend on
    the input, `tiers` (the input tokens above which each begins) and `tier` (the one of the call). From an override it
    has the `sha256` of the file, its `entry`, and `from` and `note` if given.
    """

    cost_usd: Decimal | None
    prices: JsonObject | None


UNKNOWN = Priced(cost_usd=None, prices=None)
UNSENT = Priced(cost_usd=Decimal(0), prices=None)
BEFORE_SENDING = frozenset({"model_not_usable", "key_unreadable"})
"""Error codes from before a call was attempted."""


def price(model: ModelName, usage: TokenUsage | None, at: datetime, used: str | None = None) -> Priced:
    """Return the cost of a call at a time.

    `used` is the model that the provider reports (`Completion.model`). Its price applies if known, so that a moving
    name such as `mistral-medium-latest` gets the price of the actual model. Cached tokens that the provider did not
    count had no discount. Models of `FREE_PROVIDERS` without an operator's price cost exactly 0.
    Raises `Unavailable` if the operator's prices cannot be read.
    """
    names = [name for name in (used, model.model) if name]
    own = price_overrides().entry(model.provider, [*names, *_listed_names(model.provider, names)], at)
    if own is not None:
        return _overridden(own, usage, at)
    if model.provider in FREE_PROVIDERS:
        free = {"source": "local", "at": written(at), "per_million_tokens": {"input": 0, "output": 0}}
        return Priced(cost_usd=Decimal(0), prices=free)
    provider = PROVIDERS.get(model.provider)
    if provider is None or provider.price_provider is None or usage is None:
        return UNKNOWN
    found = (
        _listed(name, provider.price_provider, usage, at) for name in _listed_names(provider.name, names)
    )
    return next((priced for priced in found if priced is not None), UNKNOWN)


def failed_price(model: ModelName, failed: TimeMachineError, at: datetime) -> Priced:
    """Return the cost of a failed call: 0 if nothing was sent or the model is free, otherwise unknown, as it may have
    been billed.
    """
    if failed.facts.get("unsent") or failed.code in BEFORE_SENDING:
        return UNSENT
    return price_if_known(model, None, at)


def price_if_known(
    model: ModelName, usage: TokenUsage | None, at: datetime, used: str | None = None
) -> Priced:
    """Return `price`, or unknown if the operator's prices cannot be read, so that the answer is not lost."""
    try:
        return price(model, usage, at, used)
    except Unavailable:
        return UNKNOWN


def unit_prices(model: ModelName, at: datetime) -> JsonObject | None:
    """Return the prices of a model at a time, of the lowest tier, as they are stored with a call. None if unknown."""
    return price(model, TokenUsage(input_tokens=1, output_tokens=1), at).prices


def _listed_names(provider: str, names: Sequence[str]) -> list[str]:
    return [ALIASES.get((provider, name), name) for name in names]


def _overridden(entry: PriceEntry, usage: TokenUsage | None, at: datetime) -> Priced:
    cost = None if usage is None else charge(entry.per_million_tokens, usage)
    if cost is None:
        return UNKNOWN
    details = {"from": entry.starts.isoformat() if entry.starts else None, "note": entry.note}
    return Priced(
        cost_usd=cost,
        prices={
            "source": OVERRIDE,
            "sha256": price_overrides().sha256,
            "entry": entry.model,
            **{name: value for name, value in details.items() if value},
            "at": written(at),
            "per_million_tokens": {name: float(unit) for name, unit in entry.per_million_tokens.items()},
        },
    )


_version = cache(version)


def _listed(model: str, provider: str, usage: TokenUsage, at: datetime) -> Priced | None:
    """Return the price of a listed model, `UNKNOWN` if the list does not cover the usage, None if the model is not listed."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return UNKNOWN
    flat = None if usage.cached_tokens or usage.cache_write_tokens else _flat(model, provider)
    if flat is None:
        return _looked_up(model, provider, usage, at)
    cost = (usage.input_tokens * flat.input + usage.output_tokens * flat.output) / MILLION
    return Priced(cost_usd=cost, prices=flat.prices | {"at": written(at)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flat:
    """A model whose price depends on neither time nor number of tokens, in US dollars per million tokens."""

    input: Decimal
    output: Decimal
    prices: JsonObject


@lru_cache(maxsize=1_000)
def _flat(model: str, provider: str) -> _Flat | None:
    """Return the two prices of a listed model if they are flat, cached, so that a thousand calls look it up once."""
    from genai_prices import Usage, calc_price

    try:
        found = calc_price(Usage(input_tokens=1, output_tokens=1), model, provider_id=provider)
    except LookupError:
        return None
    prices = found.model_price
    varies = isinstance(found.model.prices, list) or bool(_tiers(prices, 1))
    if varies or prices.input_mtok is None or prices.output_mtok is None:
        return None
    input_price, output_price = _of_tier(prices.input_mtok, 1), _of_tier(prices.output_mtok, 1)
    if found.total_price != (input_price + output_price) / MILLION:  # each request has a price too
        return None
    return _Flat(input=input_price, output=output_price, prices=_recorded_prices(found, 1))


def _looked_up(model: str, provider: str, usage: TokenUsage, at: datetime) -> Priced | None:
    from genai_prices import Usage, calc_price

    counted = Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens or None,
    )
    try:
        found = calc_price(counted, model, provider_id=provider, genai_request_timestamp=at)
    except LookupError:
        return None
    except ValueError:  # inconsistent counts: more tokens cached than read
        return UNKNOWN
    prices = _recorded_prices(found, usage.input_tokens or 0)
    if not _covers(prices["per_million_tokens"], usage):
        return UNKNOWN
    return Priced(cost_usd=found.total_price, prices=prices | {"at": written(at)})


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
    """Return whether the list has a price for each direction with tokens. Some models are priced by the hour or the image."""
    used = {"input": usage.input_tokens, "output": usage.output_tokens}
    return bool(units) and all(name in units for name, tokens in used.items() if tokens)


def price_overrides() -> PriceTable:
    """Return the operator's prices, an empty table without MODEL_PRICES. Each process reads the file once.

    Raises `Unavailable` (`prices_unreadable`).
    """
    return _price_file(settings.MODEL_PRICES) if settings.MODEL_PRICES else NO_PRICES


@cache
def _price_file(path: str) -> PriceTable:
    file = Path(path).expanduser()
    if not file.is_absolute():  # our processes have different working directories
        raise _unreadable(f"{file} is not an absolute path")
    try:
        return read_table(file.read_bytes(), str(file))
    except OSError as why:
        raise _unreadable(f"{file} cannot be read ({why.strerror})") from why
    except InvalidInput as why:
        raise _unreadable(why.message.removesuffix(".")) from why


def _unreadable(why: str) -> Unavailable:
    return Unavailable(
        f"{why}. MODEL_PRICES names this file. Fix it or remove the setting, then restart.",
        code="prices_unreadable",
    )
