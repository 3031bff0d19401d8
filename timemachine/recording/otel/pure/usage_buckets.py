"""Token counts and costs as Langfuse writes them: one number for each kind of token."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.sessions.pure.draft import Usage

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
_REASONING: Final = ("output_reasoning_tokens", "output_reasoning", "completion_details.reasoning")


def usage_of_buckets(details: Mapping[str, Any]) -> Usage | None:
    """Return the usage of `usage_details` or `usageDetails`; None if nothing was counted.

    Kinds with "input" in their names exclude each other, as do those with "output", and are added up. If the total
    that is stated shows that `input` and `output` already contain the others, nothing is added.
    https://langfuse.com/docs/observability/features/token-and-cost-tracking
    """
    counted = Attributes(details)
    read, written, total = (counted.whole_number(*names) for names in (_INPUT, _OUTPUT, _TOTAL))
    if total is None or total != (read or 0) + (written or 0):
        read = _with(read, _others(counted, "input", _INPUT))
        written = _with(written, _others(counted, "output", _OUTPUT))
    found = Usage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=total,
        cached_tokens=counted.whole_number(*_CACHED),
        cache_write_tokens=counted.whole_number(*_CACHE_WRITE),
        reasoning_tokens=counted.whole_number(*_REASONING),
    )
    return None if found == Usage() else found


def cost_of_buckets(details: Mapping[str, Any]) -> float | int | None:
    """Return the total of `cost_details`, else the sum of its parts; None if there is no number."""
    costs = Attributes(details)
    total = costs.number("total")
    if total is not None:
        return total
    parts = [found for name in details if (found := costs.number(name)) is not None]
    return sum(parts) if parts else None


def _others(counted: Attributes, word: str, base: Iterable[str]) -> list[int]:
    names = [name for name in counted.values if word in name.lower() and name not in base]
    return [found for name in names if (found := counted.whole_number(name)) is not None]


def _with(count: int | None, others: list[int]) -> int | None:
    return count if not others else (count or 0) + sum(others)
