"""The operator's price file: read once, validated completely, looked up by model and day.

The file is TOML or JSON with a list `prices`. Each entry has a `model` (`provider:model`, or `provider:*` for all
others of a provider), prices in US dollars per million tokens (`input` and `output`; `cache_read`, `cache_write` and
`reasoning` if different from these), and optionally `from`, the day (UTC) on which they begin, and a `note`.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.content import sha256_hex
from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.pure.catalogue import ALIASES, LOCAL

ANY: Final = "*"
HIGHEST: Final = Decimal(1_000_000)
_PRICES: Final = ("input", "output", "cache_read", "cache_write", "reasoning")
_FIELDS: Final = {"model", "from", "note", *_PRICES}
_MODEL: Final = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*):(\*|[^\s*]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceEntry:
    """The prices of a model, or of all other models of its provider, in US dollars per million tokens, from a day on."""

    model: str
    starts: date | None
    note: str | None
    per_million_tokens: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceTable:
    """All entries of a file, and the SHA-256 of its bytes (None without a file)."""

    sha256: str | None
    entries: tuple[PriceEntry, ...]

    def entry(self, provider: str, models: Sequence[str], at: datetime) -> PriceEntry | None:
        """Return the entry that applies at this time: of the first of these models with one, else of the provider."""
        day = at.astimezone(UTC).date()
        begun = [each for each in self.entries if each.starts is None or each.starts <= day]
        for model in (*models, ANY):
            found = [each for each in begun if each.model == f"{provider}:{model}"]
            if found:
                return max(found, key=lambda each: each.starts or date.min)
        return None

    def of_provider(self, provider: str, at: datetime) -> tuple[PriceEntry, ...]:
        """Return the entries that apply at this time to the provider's models and to all others (`*`), in order."""
        named = dict.fromkeys(each.model for each in self.entries if each.model.startswith(f"{provider}:"))
        found = {model: self.entry(provider, [model.removeprefix(f"{provider}:")], at) for model in named}
        return tuple(entry for model, entry in found.items() if entry is not None and entry.model == model)


NO_PRICES = PriceTable(sha256=None, entries=())


def read_table(data: bytes, name: str) -> PriceTable:
    """Parse a price file.

    Raises:
        InvalidInput: `bad_prices`: the message says which entry is wrong, and why.
    """
    found = _parsed(data, name)
    if not isinstance(found, dict) or not isinstance(found.get("prices"), list):
        raise _bad(name, "it needs a list named `prices`")
    unknown = sorted(found.keys() - {"currency", "prices"})
    if unknown:
        raise _bad(name, f"unknown field `{unknown[0]}`; the fields are `prices` and `currency`")
    if found.get("currency", "USD") != "USD":
        raise _bad(name, "`currency` must be USD")
    entries = tuple(
        _entry(each, _place(each, name, number)) for number, each in enumerate(found["prices"], 1)
    )
    seen: set[tuple[str, date | None]] = set()
    for entry in entries:
        if (entry.model, entry.starts) in seen:
            since = f" from {entry.starts}" if entry.starts else ""
            raise _bad(name, f"{entry.model}{since} has two entries; remove one")
        seen.add((entry.model, entry.starts))
    return PriceTable(sha256=sha256_hex(data), entries=entries)


def _parsed(data: bytes, name: str) -> Any:
    try:
        text = data.decode()
        if name.lower().endswith(".json"):
            return json.loads(text, parse_float=Decimal, parse_constant=Decimal)
        if name.lower().endswith(".toml"):
            return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as why:
        raise _bad(name, f"it cannot be read ({why})") from why
    raise _bad(name, "its name must end in .toml or .json")


def _place(found: Any, name: str, number: int) -> str:
    model = found.get("model") if isinstance(found, dict) else None
    return f"{name}, entry {number}{f' ({model[:80]})' if isinstance(model, str) else ''}"


def _entry(found: Any, place: str) -> PriceEntry:
    if not isinstance(found, dict):
        raise _bad(place, "it is not an object with fields")
    unknown = sorted(found.keys() - _FIELDS)
    if unknown:
        raise _bad(place, f"unknown field `{unknown[0]}`; the fields are {', '.join(sorted(_FIELDS))}")
    note = found.get("note")
    if note is not None and not isinstance(note, str):
        raise _bad(place, "`note` must be text")
    return PriceEntry(
        model=_model(found.get("model"), place),
        starts=_day(found.get("from"), place),
        note=note,
        per_million_tokens={
            each: _price(found, each, place)
            for each in _PRICES
            if each in {"input", "output"} or each in found
        },
    )


def _model(written: Any, place: str) -> str:
    parts = _MODEL.fullmatch(written) if isinstance(written, str) else None
    if parts is None:
        raise _bad(
            place, "`model` must look like openai:gpt-4o-mini, or openai:* for all other models of a provider"
        )
    if parts[1] == LOCAL:
        raise _bad(place, f"the models of {LOCAL}: are not language models and always cost nothing")
    return f"{ALIASES.get(parts[1], parts[1])}:{parts[2]}"


def _day(written: Any, place: str) -> date | None:
    if type(written) is date or written is None:
        return written
    try:
        return date.fromisoformat(written)
    except (TypeError, ValueError) as why:
        raise _bad(place, "`from` must be a date like 2026-11-20") from why


def _price(found: Mapping[str, Any], name: str, place: str) -> Decimal:
    value = found.get(name)
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        raise _bad(place, f"`{name}` must be a number of US dollars per million tokens")
    dollars = Decimal(value)
    if not dollars.is_finite() or not 0 <= dollars <= HIGHEST:
        raise _bad(place, f"`{name}` must be between 0 and {HIGHEST:,} US dollars per million tokens")
    return dollars


def _bad(place: str, why: str) -> InvalidInput:
    return InvalidInput(f"The prices in {place} cannot be used: {why}.", code="bad_prices")
