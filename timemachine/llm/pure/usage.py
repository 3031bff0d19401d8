"""The token counts of a provider's answer, read without trusting it: what is absent or not a count is None. Pure."""

from collections.abc import Mapping
from typing import Any

from timemachine.llm.pure.completion import TokenUsage


def openai_usage(usage: Any) -> TokenUsage:
    """The `usage` of a chat completion. Its prompt tokens include the cached ones.

    Some servers (xAI, Gemini) leave reasoning out of the completion tokens and keep it in the total, and bill it as output:
    so where the total says that more was written, the total holds. Where there is no total, reasoning that is more than the
    completion cannot be a part of it, and stands beside it.
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
    """The `usage` of a message. Its input tokens exclude what was read from and written to the cache, so these are added."""
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
    """The value where it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str | None:
    """The value where it is a text with something in it, else None."""
    return value if isinstance(value, str) and value else None


def count(found: Mapping[str, Any], name: str) -> int | None:
    """The whole number of that name, None where there is none or it is negative."""
    value = found.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _all_written(read: int | None, written: int | None, total: int | None, thought: int | None) -> int | None:
    if written is None:
        return None
    if read is not None and total is not None:
        return max(written, total - read)
    return written + thought if thought is not None and thought > written else written


def _sum(read: int | None, written: int | None) -> int | None:
    return None if read is None or written is None else read + written
