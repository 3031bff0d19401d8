"""The cost of model calls, by the prices of their day. Unknown costs are unknown, never 0.

The operator's own prices, from the file that MODEL_PRICES names, come first, then the dated, offline list in the `genai-prices`
package: no network is used. Unit prices are stored with every call, so a later list never changes what was recorded.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path

from django.conf import settings

from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import InvalidInput, TimeMachineError, Unavailable
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.price_list import listed_price
from timemachine.llm.priced import Priced, unknown
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.llm.pure.price_conditions import NONE, Conditions
from timemachine.llm.pure.price_names import ListedName, RecordedName, price_provider, recorded_name
from timemachine.llm.pure.price_table import NO_PRICES, PriceEntry, PriceTable, read_table
from timemachine.llm.pure.usage import TokenUsage, charge
from timemachine.llm.table import PROVIDERS

OVERRIDE = "override"
FREE_PROVIDERS = frozenset({LOCAL, "ollama"})
"""Providers of models on one's own machines. A call costs nothing, unless the operator set a price."""
_OF_A_SERVICE = ("-cloud", ":cloud")
"""Ends of the names of models that Ollama does not run on the machine, but passes on to its paid service."""

# common names, and their names in the list
ALIASES: Mapping[tuple[str, str], str] = {
    ("openai", "gpt-4.5"): "gpt-4.5-preview",
    ("groq", "llama-3.3-70b"): "llama-3.3-70b-versatile",
    ("mistral", "mistral-large"): "mistral-large-2512",
}
NOT_BILLED = Priced(cost_usd=Decimal(0), prices=None)
BEFORE_SENDING = frozenset({"model_not_usable", "key_unreadable"})
"""Error codes from before a call was attempted."""


def price(model: ModelName, usage: TokenUsage | None, at: datetime, used: str | None = None) -> Priced:
    """Return the cost of a call made here, at a time.

    `used` is the model that the provider reports (`Completion.model`). Its price applies if known, so that a moving
    name such as `mistral-medium-latest` gets the price of the actual model. Cached tokens that the provider did not
    count had no discount. Models of `FREE_PROVIDERS` without an operator's price cost exactly 0. The servers that a
    project adds have no listed prices, whatever they are named.
    Raises `Unavailable` if the operator's prices cannot be read.
    """
    names = [name for name in (used, model.model) if name]
    provider = PROVIDERS.get(model.provider)
    listed = provider.price_provider if provider else None
    return _priced(
        [model.provider],
        names,
        [ListedName(provider=listed, model=name) for name in names] if listed else [],
        usage,
        at,
        NONE,
        unknown("model_not_listed" if listed else "provider_not_listed"),
    )


def recorded_price(
    recorded: str, usage: TokenUsage | None, at: datetime, conditions: Conditions = NONE
) -> Priced:
    """Return the cost of a call that another tool recorded, at a time and under the conditions that its usage states.

    Providers and models are understood as each tool writes them (`llm.pure.price_names`).
    Raises `Unavailable` if the operator's prices cannot be read.
    """
    name = recorded_name(recorded)
    stated = name.provider
    providers = list(dict.fromkeys([stated or "", *(each.provider for each in name.listed)]))
    return _priced(
        [each for each in providers if each],
        [name.model],
        list(name.listed),
        usage,
        at,
        conditions,
        _not_listed(name),
    )


def recorded_price_if_known(
    recorded: str, usage: TokenUsage | None, at: datetime, conditions: Conditions = NONE
) -> Priced:
    """Return `recorded_price`, or unknown if the operator's prices cannot be read, so that the record is not lost."""
    try:
        return recorded_price(recorded, usage, at, conditions)
    except Unavailable:
        return unknown("prices_unreadable")


def _not_listed(name: RecordedName) -> Priced:
    if name.provider is None:
        return unknown("provider_not_recorded")
    is_listed = name.listed or price_provider(name.provider)
    return unknown("model_not_listed" if is_listed else "provider_not_listed")


def _priced(
    providers: Sequence[str],
    names: Sequence[str],
    listed: Sequence[ListedName],
    usage: TokenUsage | None,
    at: datetime,
    conditions: Conditions,
    not_found: Priced,
) -> Priced:
    for provider in providers:
        common = [ALIASES.get((provider, name), name) for name in names]
        own = price_overrides().entry(provider, [*names, *common], at)
        if own is not None:
            return _overridden(own, usage, at, conditions)
    if providers and _is_free(providers[0], names):
        free = {"source": "local", "at": written(at), "per_million_tokens": {"input": 0, "output": 0}}
        return Priced(cost_usd=Decimal(0), prices=free)
    if usage is None or not listed:
        return unknown("tokens_not_recorded") if listed else not_found
    common_names = (
        ListedName(provider=each.provider, model=ALIASES.get((each.provider, each.model), each.model))
        for each in listed
    )
    found = (listed_price(name, usage, at, conditions) for name in common_names)
    return next((priced for priced in found if priced is not None), not_found)


def _is_free(provider: str, names: Sequence[str]) -> bool:
    """Return whether a model runs on one's own machine: `ollama.chat` is how the Vercel AI SDK writes Ollama."""
    on_this_machine = provider.lower().partition(".")[0] in FREE_PROVIDERS
    return on_this_machine and not any(name.lower().endswith(_OF_A_SERVICE) for name in names)


def failed_price(model: ModelName, failed: TimeMachineError, at: datetime) -> Priced:
    """Return the cost of a failed call: 0 if nothing was sent, the provider refused it or the model is free, otherwise
    unknown, as it may have been billed.
    """
    if failed.facts.get("unsent") or failed.facts.get("refused") or failed.code in BEFORE_SENDING:
        return NOT_BILLED
    priced = price_if_known(model, None, at)
    return priced if priced.cost_usd is not None else unknown("call_failed")


def price_if_known(
    model: ModelName, usage: TokenUsage | None, at: datetime, used: str | None = None
) -> Priced:
    """Return `price`, or unknown if the operator's prices cannot be read, so that the answer is not lost."""
    try:
        return price(model, usage, at, used)
    except Unavailable:
        return unknown("prices_unreadable")


def unit_prices(model: ModelName, at: datetime) -> JsonObject | None:
    """Return the prices of a model at a time, of the lowest tier, as they are stored with a call. None if unknown."""
    found = price(model, TokenUsage(input_tokens=1, output_tokens=1), at)
    return None if found.cost_usd is None else found.prices


def _overridden(entry: PriceEntry, usage: TokenUsage | None, at: datetime, conditions: Conditions) -> Priced:
    if conditions.words:  # the file has prices of tokens, without conditions
        return unknown("condition_not_listed", conditions.names)
    if usage is not None and usage.cache_write_1h_tokens:  # nor a price of what is cached for an hour
        return unknown("condition_not_listed", "cache_write_1h_tokens")
    cost = None if usage is None else charge(entry.per_million_tokens, usage)
    if usage is None or cost is None:
        is_counted = usage is not None and None not in {usage.input_tokens, usage.output_tokens}
        return unknown("tokens_contradict" if is_counted else "tokens_not_recorded")
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
