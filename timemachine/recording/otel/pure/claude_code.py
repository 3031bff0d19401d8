"""Spans of Claude Code, whose attributes have names of their own.

https://code.claude.com/docs/en/monitoring-usage
"""

from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.span import Span

_PREFIX: Final = "claude_code."
_NAMES: Final = {
    "model": "gen_ai.request.model",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cache_read_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_creation_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "cost_usd": "gen_ai.usage.cost",
    "tool_name": "gen_ai.tool.name",
    "tool_use_id": "gen_ai.tool.call.id",
    "user_prompt": "input.value",
    "prompt": "input.value",
    "tool_input": "gen_ai.tool.call.arguments",
    "response.model_output": "output.value",
}


def is_of_claude_code(span: Span) -> bool:
    """Return whether Claude Code sent the span."""
    return span.name.startswith(_PREFIX)


def with_common_names(span: Span) -> JsonObject:
    """Return the attributes of a span, those of Claude Code also under the names that others use.

    Its input leaves out cached tokens.
    """
    if not is_of_claude_code(span):
        return span.attributes
    counted = Attributes(span.attributes)
    common = {_NAMES[name]: value for name, value in span.attributes.items() if name in _NAMES}
    read = counted.whole_number("input_tokens")
    if read is not None:
        cached = (counted.whole_number(name) or 0 for name in ("cache_read_tokens", "cache_creation_tokens"))
        common["gen_ai.usage.input_tokens"] = read + sum(cached)
    if "model" in span.attributes:
        common.setdefault("gen_ai.system", "anthropic")
    return common | span.attributes
