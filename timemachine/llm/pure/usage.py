"""Token usage: read from untrusted responses (absent or invalid counts are None), estimated, and priced."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any, Final

CHARACTERS_OF_A_TOKEN: Final = 4
_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens as the provider counted them, None if it did not.

    `input_tokens` includes cached tokens, `output_tokens` includes reasoning. `cache_write_1h_tokens` are those of
    `cache_write_tokens` that Anthropic caches for an hour, at a different price.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    reasoning_tokens: int | None = None


def openai_usage(usage: Any) -> TokenUsage:
    """Read the `usage` of a chat completion, whose prompt tokens include cached ones.

    Some servers (xAI, Gemini) leave reasoning out of the completion tokens, include it in the total, and bill it as
    output. So if the total implies more output, the total wins. Without a total, reasoning that exceeds the completion
    tokens cannot be part of them and is added.
    """
    found = part_of(usage)
    read, written, total = (count(found, f"{name}_tokens") for name in ("prompt", "completion", "total"))
    prompt, completion = (part_of(found.get(f"{name}_tokens_details")) for name in ("prompt", "completion"))
    thought = count(completion, "reasoning_tokens")
    written = _all_written(read, written, total, thought)
    return TokenUsage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=total if total is not None else _sum(read, written),
        cached_tokens=count(prompt, "cached_tokens"),
        cache_write_tokens=count(prompt, "cache_write_tokens"),
        reasoning_tokens=thought,
    )


def anthropic_usage(usage: Any) -> TokenUsage:
    """Read the `usage` of a message. Its input tokens exclude cache reads and writes, so these are added."""
    found = part_of(usage)
    fresh, written = count(found, "input_tokens"), count(found, "output_tokens")
    cached, stored = count(found, "cache_read_input_tokens"), count(found, "cache_creation_input_tokens")
    read = None if fresh is None else fresh + (cached or 0) + (stored or 0)
    return TokenUsage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=_sum(read, written),
        cached_tokens=cached,
        cache_write_tokens=stored,
        cache_write_1h_tokens=count(part_of(found.get("cache_creation")), "ephemeral_1h_input_tokens"),
        reasoning_tokens=count(part_of(found.get("output_tokens_details")), "thinking_tokens"),
    )


def part_of(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a JSON object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """Return the value if it is a list, otherwise an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str | None:
    """Return the value if it is a non-empty string, otherwise None."""
    return value if isinstance(value, str) and value else None


def count(found: Mapping[str, Any], name: str) -> int | None:
    """Return the integer with this name. None if it is absent or negative."""
    value = found.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def estimate_tokens(characters: int) -> int:
    """Estimate the tokens of a text of this many characters: four characters per token, rounded up."""
    return ceil(characters / CHARACTERS_OF_A_TOKEN)


def charge(units: Mapping[str, Decimal], usage: TokenUsage) -> Decimal | None:
    """Return the cost of the tokens in US dollars at these prices per million.

    `input_tokens` includes tokens read from and written to the cache, and `output_tokens` includes reasoning. Each part
    is subtracted before it is charged at its own price. A part without a price is charged like the total, and a part
    that the provider did not count is taken as 0. Returns None if tokens were not counted or contradict each other.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    read, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    thought = usage.reasoning_tokens or 0
    fresh, visible = usage.input_tokens - read - written, usage.output_tokens - thought
    if fresh < 0 or visible < 0:
        return None
    total = (
        fresh * units["input"]
        + read * units.get("cache_read", units["input"])
        + written * units.get("cache_write", units["input"])
        + visible * units["output"]
        + thought * units.get("reasoning", units["output"])
    )
    return total / _MILLION


def _all_written(read: int | None, written: int | None, total: int | None, thought: int | None) -> int | None:
    if written is None:
        return None
    if read is not None and total is not None:
        return max(written, total - read)
    return written + thought if thought is not None and thought > written else written


def _sum(read: int | None, written: int | None) -> int | None:
    return None if read is None or written is None else read + written
