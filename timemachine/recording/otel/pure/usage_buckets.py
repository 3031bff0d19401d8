"""Token counts and costs as Langfuse writes them: one number for each kind of token."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from timemachine.core.pure.numbers import sum_known
from timemachine.llm.pure.usage import part_of
from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.sessions.pure.draft import Usage
from timemachine.recording.sessions.pure.validation import MOST_TOKENS

_INPUT: Final = ("input", "input_tokens", "promptTokens", "prompt_tokens", "inputTokens")
_OUTPUT: Final = ("output", "output_tokens", "completionTokens", "completion_tokens", "outputTokens")
_TOTAL: Final = ("total", "total_tokens", "totalTokens")
_CACHED: Final = (
    "cache_read_input_tokens",
    "input_cached_tokens",
    "input_cache_read",
    "prompt_details.cache_read",
)
_CACHE_WRITE: Final = (
    "cache_creation_input_tokens",
    "input_cache_creation",
    "input_cache_write",
    "prompt_details.cache_write",
)
_CACHE_WRITE_5M: Final = ("input_cache_creation_5m",)
CACHE_WRITE_1H: Final = ("input_cache_creation_1h",)
"""Tokens that Anthropic keeps for an hour, which cost more than the others."""
_REASONING: Final = ("output_reasoning_tokens", "output_reasoning", "completion_details.reasoning")
_DETAILS: Final = (
    "prompt_tokens_details",
    "input_tokens_details",
    "completion_tokens_details",
    "output_tokens_details",
)


def usage_of_buckets(details: Mapping[str, Any]) -> Usage | None:
    """Return the usage of `usage_details` or `usageDetails`; None if nothing was counted.

    Kinds with "input" in their names exclude each other, as do those with "output", and are added up. If the total
    that is stated shows that `input` and `output` already contain the others, nothing is added. In the usage of OpenAI
    they always do: its kinds are in `…_details`.
    https://langfuse.com/docs/observability/features/token-and-cost-tracking
    """
    counted = Attributes(details)
    read, written, total = (counted.whole_number(*names) for names in (_INPUT, _OUTPUT, _TOTAL))
    if total is None or total != (read or 0) + (written or 0):
        read = _with(read, _others(counted, "input", _INPUT))
        written = _with(written, _others(counted, "output", _OUTPUT))
    stored = [counted.whole_number(*names) for names in (_CACHE_WRITE, _CACHE_WRITE_5M, CACHE_WRITE_1H)]
    found = Usage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=total,
        cached_tokens=_or_detail(counted.whole_number(*_CACHED), details, "cached_tokens"),
        cache_write_tokens=sum_known(*stored),
        reasoning_tokens=_or_detail(counted.whole_number(*_REASONING), details, "reasoning_tokens"),
    )
    return None if found == Usage() else found


def cost_of_buckets(details: Mapping[str, Any]) -> float | int | None:
    """Return the total of `cost_details`, else the sum of its parts; None if there is no number."""
    costs = Attributes(details)
    total = costs.number("total", "total_cost")
    if total is not None:
        return total
    parts = [found for name in details if (found := costs.number(name)) is not None]
    return sum(parts) if parts else None


def _or_detail(count: int | None, details: Mapping[str, Any], name: str) -> int | None:
    """Return the count, else that of OpenAI's `prompt_tokens_details` and the like."""
    if count is not None:
        return count
    within = (Attributes(part_of(details.get(each))).whole_number(name) for each in _DETAILS)
    return next((found for found in within if found is not None), None)


def _others(counted: Attributes, word: str, base: Iterable[str]) -> list[int]:
    names = [name for name in counted.values if word in name.lower() and name not in base]
    return [found for name in names if (found := counted.whole_number(name)) is not None]


def _with(count: int | None, others: list[int]) -> int | None:
    whole = (count or 0) + sum(others)
    return count if not others else whole if whole <= MOST_TOKENS else None
