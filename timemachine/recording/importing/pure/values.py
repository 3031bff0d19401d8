"""Read values from untrusted records: each is of the expected type, or None."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import sum_known
from timemachine.recording.sessions.pure.draft import Usage
from timemachine.recording.sessions.pure.validation import (
    COST_DIGITS,
    HIGHEST_COST,
    LONGEST_DURATION_MS,
    LONGEST_ID_BYTES,
    LONGEST_WORD,
    MOST_TOKENS,
    YEARS,
    id_bytes,
)

_LONGEST_ID: Final = LONGEST_ID_BYTES - 100
"""In bytes. The rest is left for suffixes that tell apart two ids of one name, or a call and its result."""
_PROVIDERS: Final = frozenset(
    [
        "anthropic",
        "azure",
        "bedrock",
        "cohere",
        "deepseek",
        "google",
        "groq",
        "mistral",
        "ollama",
        "openai",
        "openrouter",
        "together",
        "vertex",
        "xai",
    ]
)
_LOCAL: Final = frozenset(
    ["local", "ollama", "lmstudio", "lm-studio", "llama.cpp", "llamacpp", "llama-cpp", "vllm"]
)
"""Providers that run on the user's machines."""
_FREE: Final = (":free", "-free")
"""What OpenRouter's and OpenCode Zen's free models end in."""
_OF_OLLAMAS_CLOUD: Final = "cloud"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def text_at(record: Any, *names: str) -> str | None:
    """Return the first non-empty text under one of the names, else None."""
    for name in names:
        found = record.get(name) if isinstance(record, dict) else None
        if isinstance(found, str) and found:
            return found
    return None


def short_text(text: str | None) -> str | None:
    """Return the text if it is not empty and short enough to be a name or an id here."""
    usable = text and len(text) <= LONGEST_WORD and id_bytes(text) <= _LONGEST_ID
    return text if usable else None


def short_text_at(record: Any, *names: str) -> str | None:
    """Return the first text under one of the names if it is short enough to be a name or an id here."""
    return short_text(text_at(record, *names))


def first_at(record: JsonObject, *names: str) -> Any:
    """Return the value under the first of the names that the record has, else None."""
    return next((record[name] for name in names if name in record), None)


def record_at(record: Any, *path: str) -> JsonObject:
    """Return the object at the end of the path, or an empty one. Without a path: the record itself if it is an object."""
    found = record
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def list_at(record: Any, name: str) -> list[Any]:
    """Return the list under the name, or an empty one."""
    found = record.get(name) if isinstance(record, dict) else None
    return found if isinstance(found, list) else []


def count_at(record: Any, *names: str) -> int | None:
    """Return the first count under one of the names: a whole number from 0 to 10¹²."""
    for name in names:
        found = record.get(name) if isinstance(record, dict) else None
        if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= MOST_TOKENS:
            return found
    return None


def number(value: Any) -> float | None:
    """Return the value as a float, or None if it is not a number that a double can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def milliseconds(value: Any, *, of_one: float = 1.0) -> float | None:
    """Return a duration in milliseconds, given in units of `of_one` ms; None if it is negative or over 30 years."""
    found = number(value)
    return found * of_one if found is not None and 0 <= found * of_one <= LONGEST_DURATION_MS else None


def milliseconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """Return the milliseconds between two times; None if one is missing or they are in the wrong order."""
    if start is None or end is None or end < start:
        return None
    return milliseconds((end - start) / timedelta(milliseconds=1))


def dollars(value: Any) -> Decimal | None:
    """Return an amount of US dollars, rounded to the stored digits; None if it is not an amount."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = Decimal(str(value))
        usable = found.is_finite() and 0 <= found <= HIGHEST_COST
        return round(found, COST_DIGITS) if usable else None
    except (InvalidOperation, ValueError):  # ValueError: a whole number of thousands of digits
        return None


def cost_at_their_price(value: Any, usage: Usage | None, model: str | None) -> Decimal | None:
    """Return US dollars that a tool computed with its own price list: models without a price cost 0 in it. With tokens,
    that 0 is no statement, unless the model's name says that it is free or runs on the user's machines."""
    found = dollars(value)
    tokens = usage and any(getattr(usage, name) for name in usage.__slots__)
    return None if found == 0 and tokens and not _costs_nothing(model) else found


def _costs_nothing(model: str | None) -> bool:
    name = (model or "").lower()
    return name.endswith(_FREE) or (name.partition(":")[0] in _LOCAL and not name.endswith(_OF_OLLAMAS_CLOUD))


def moment(value: Any, *, offset_missing: bool = False) -> datetime | None:
    """Return a time from its text. With `offset_missing`, a text without an offset is read as UTC."""
    if not isinstance(value, str):
        return None
    try:
        return _in_range(parse_time(value))
    except (InvalidInput, OverflowError):
        return _in_range(_without_offset(value)) if offset_missing else None


def moment_after_1970(value: Any, *, seconds_each: float = 1.0) -> datetime | None:
    """Return a time from a number since 1970, in units of `seconds_each` seconds."""
    found = number(value)
    try:
        return None if found is None else _in_range(_EPOCH + timedelta(seconds=found * seconds_each))
    except (OverflowError, ValueError):  # ValueError: NaN
        return None


def parsed_json(value: Any) -> Any:
    """Return the object or list that a text writes as JSON; any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    try:
        return parse_json(value)
    except InvalidInput:
        return value


def text_of_content(content: Any) -> str | None:
    """Return the text of a message's content: the content itself, or the texts of its parts joined by line breaks, or None."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) if texts else None


def text_or_parts(content: Any) -> Any:
    """Return the text of content that consists of texts only, any other content as it is."""
    is_text = isinstance(content, list) and bool(content) and all(text_at(each, "text") for each in content)
    return text_of_content(content) if is_text else content


def usage_of(
    record: Any,
    *,
    read: Sequence[str],
    written: Sequence[str],
    total: Sequence[str] = ("total_tokens",),
    cached: Sequence[str] = (),
    cache_write: Sequence[str] = (),
    reasoning: Sequence[str] = (),
) -> Usage | None:
    """Return the token counts under the names, None if there are none.

    If cached tokens are stated but are no count, what was read is unknown: some tools include them in it and some do not, and
    its price depends on them.
    """
    is_readable = not any(_is_no_count(record, names) for names in (cached, cache_write))
    found = Usage(
        input_tokens=count_at(record, *read) if is_readable else None,
        output_tokens=count_at(record, *written),
        total_tokens=count_at(record, *total),
        cached_tokens=count_at(record, *cached),
        cache_write_tokens=count_at(record, *cache_write),
        reasoning_tokens=count_at(record, *reasoning),
    )
    return None if found == Usage() else found


def _is_no_count(record: Any, names: Sequence[str]) -> bool:
    stated = [record.get(name) for name in names] if isinstance(record, dict) else []
    return count_at(record, *names) is None and any(each is not None for each in stated)


def sum_of(usages: Sequence[Usage]) -> Usage | None:
    """Return the sum of the tokens, None if there are none; a count that no usage has stays unknown."""
    names = Usage.__dataclass_fields__
    return (
        Usage(**{name: sum_known(*(getattr(each, name) for each in usages)) for name in names})
        if usages
        else None
    )


def with_cached_input(usage: Usage | None) -> Usage | None:
    """Return the usage of a tool that does not include cached tokens in its input; we include them."""
    if usage is None or usage.input_tokens is None:
        return usage
    cached = (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0)
    return replace(usage, input_tokens=usage.input_tokens + cached)


def _without_offset(value: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else None


def _in_range(found: datetime | None) -> datetime | None:
    return found if found is not None and found.year in YEARS else None


def model_name(model: str | None, provider: str | None = None) -> str | None:
    """Return `provider:model` if the provider is recorded or precedes a slash; otherwise the recorded name."""
    if model is None:
        return None
    if provider is not None:
        return model if model.startswith(f"{provider}:") else f"{provider}:{model}"[:LONGEST_WORD]
    first, slash, rest = model.partition("/")
    return f"{first}:{rest}" if slash and rest and first in _PROVIDERS else model
