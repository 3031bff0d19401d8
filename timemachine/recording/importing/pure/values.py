"""Values out of records that anybody may have written: each is what it should be, or None. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput
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
"""In bytes; what is added to tell two of one name apart, or a call from its result, has its place behind it."""
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
_BEGIN: Final = datetime(1970, 1, 1, tzinfo=UTC)


def text_at(record: Any, *names: str) -> str | None:
    """The first text under one of the names; None where each is empty, missing or no text."""
    for name in names:
        found = record.get(name) if isinstance(record, dict) else None
        if isinstance(found, str) and found:
            return found
    return None


def word_at(record: Any, *names: str) -> str | None:
    """The first text under one of the names that is no longer than a name or an id of ours may be."""
    found = text_at(record, *names)
    usable = found is not None and len(found) <= LONGEST_WORD and id_bytes(found) <= _LONGEST_ID
    return found if usable else None


def record_at(record: Any, *path: str) -> dict[str, Any]:
    """The object at the end of the path, empty where there is none."""
    found = record
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def list_at(record: Any, name: str) -> list[Any]:
    """The list under the name, empty where there is none."""
    found = record.get(name) if isinstance(record, dict) else None
    return found if isinstance(found, list) else []


def count_at(record: Any, *names: str) -> int | None:
    """The first number under one of the names that counts something: whole, from 0 to 10¹²."""
    for name in names:
        found = record.get(name) if isinstance(record, dict) else None
        if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= MOST_TOKENS:
            return found
    return None


def number(value: Any) -> float | None:
    """The value as a number, where it is one that a double can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def milliseconds(value: Any, *, of_one: float = 1.0) -> float | None:
    """A duration in milliseconds, of a number in units of `of_one` milliseconds; None where it is negative or over 30 years."""
    found = number(value)
    return found * of_one if found is not None and 0 <= found * of_one <= LONGEST_DURATION_MS else None


def between(start: datetime | None, end: datetime | None) -> float | None:
    """The milliseconds from one time to a later one; None where one is missing or they are the other way round."""
    if start is None or end is None or end < start:
        return None
    return milliseconds((end - start) / timedelta(milliseconds=1))


def dollars(value: Any) -> Decimal | None:
    """An amount of US dollars, rounded to the digits that are kept; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = Decimal(str(value))
        usable = found.is_finite() and 0 <= found <= HIGHEST_COST
        return round(found, COST_DIGITS) if usable else None
    except (InvalidOperation, ValueError):  # ValueError: a whole number of thousands of digits
        return None


def moment(value: Any, *, offset_missing: bool = False) -> datetime | None:
    """A time as a text; where the format writes UTC without an offset (`offset_missing`), such a text is UTC."""
    if not isinstance(value, str):
        return None
    try:
        return _usual(parse_time(value))
    except (InvalidInput, OverflowError):
        return _usual(_without_offset(value)) if offset_missing else None


def moment_after_1970(value: Any, *, seconds_each: float = 1.0) -> datetime | None:
    """A time as a number since 1970, in units of `seconds_each` seconds."""
    found = number(value)
    try:
        return None if found is None else _usual(_BEGIN + timedelta(seconds=found * seconds_each))
    except (OverflowError, ValueError):  # ValueError: it is no number at all
        return None


def parsed(value: Any) -> Any:
    """The object or list that a text writes as JSON; any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    try:
        return parse_json(value)
    except InvalidInput:
        return value


def said(content: Any) -> str | None:
    """The text of a content: itself where it is a text, else the texts of its parts, each on a line of its own; or None."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) if texts else None


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
    """The tokens under the names, where `read` counts the cached ones in; None where none of them is there."""
    found = Usage(
        input_tokens=count_at(record, *read),
        output_tokens=count_at(record, *written),
        total_tokens=count_at(record, *total),
        cached_tokens=count_at(record, *cached),
        cache_write_tokens=count_at(record, *cache_write),
        reasoning_tokens=count_at(record, *reasoning),
    )
    return None if found == Usage() else found


def _without_offset(value: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else None


def _usual(found: datetime | None) -> datetime | None:
    return found if found is not None and found.year in YEARS else None


def named(model: str | None, provider: str | None = None) -> str | None:
    """The model as `provider:model`, where the provider is recorded or stands before a slash; else as it was recorded."""
    if model is None:
        return None
    if provider is not None:
        return model if model.startswith(f"{provider}:") else f"{provider}:{model}"[:LONGEST_WORD]
    first, slash, rest = model.partition("/")
    return f"{first}:{rest}" if slash and rest and first in _PROVIDERS else model
