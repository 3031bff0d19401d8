"""Spans and log records of Claude Code, whose attributes have names of their own.

https://code.claude.com/docs/en/monitoring-usage
"""

from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.span import Span
from timemachine.recording.sessions.pure.draft import ActionDraft

PREFIX: Final = "claude_code."
SCOPE: Final = "com.anthropic.claude_code"
"""Begins the names of the scopes of its spans and log records."""
LLM_REQUEST: Final = "claude_code.llm_request"
API_REQUEST: Final = "claude_code.api_request"
"""The span of a request, and the log record of the same request."""
TOOL_SPAN: Final = "claude_code.tool"
TOOL_RESULT: Final = "claude_code.tool_result"
"""The span of a tool call, and the log record of the same call."""
API_ERROR: Final = "claude_code.api_error"
USER_PROMPT: Final = "claude_code.user_prompt"
REQUEST_ID: Final = "request_id"
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
    "tool_parameters": "gen_ai.tool.call.arguments",
    "response.model_output": "output.value",
    "decision": "output.value",
}
_REDACTED: Final = "<REDACTED>"
"""What Claude Code writes for a prompt that it may not send."""


def is_of_claude_code(span: Span) -> bool:
    """Return whether Claude Code sent the span."""
    return span.name.startswith(PREFIX)


def request_metadata(span: Span) -> JsonObject | None:
    """Return the id of the request that the span or record is about, as metadata of its step; None if it is about none."""
    found = span.attributes.get(REQUEST_ID) if span.name in {LLM_REQUEST, API_REQUEST} else None
    return {REQUEST_ID: found} if isinstance(found, str) else None


def request_of(draft: ActionDraft, *names: str) -> str | None:
    """Return the id of the request that a step is about, if it has one of these names (all, if none is given)."""
    found = (
        (draft.metadata or {}).get(REQUEST_ID)
        if draft.name in (names or (LLM_REQUEST, API_REQUEST))
        else None
    )
    return found if isinstance(found, str) else None


def tool_call_of(draft: ActionDraft, *names: str) -> str | None:
    """Return the id of the tool call that a step is, if it has one of these names (both, if none is given)."""
    is_one = draft.kind == "tool_call" and draft.name in (names or (TOOL_SPAN, TOOL_RESULT))
    return draft.call_id if is_one else None


def failure_of(span: Span) -> tuple[str, str | None] | None:
    """Return type and message of the failure that a log record states; None if it states none."""
    failed = span.name == API_ERROR or (
        span.name == TOOL_RESULT and str(span.attributes.get("success")).lower() == "false"
    )
    if not failed:
        return None
    stated = Attributes(span.attributes)
    return stated.text("error_type", "error.type", "status_code") or "error", stated.text("error")


def with_common_names(span: Span) -> JsonObject:
    """Return the attributes of a span, those of Claude Code also under the names that others use.

    Its input leaves out cached tokens.
    """
    if not is_of_claude_code(span):
        return span.attributes
    counted, is_prompt = Attributes(span.attributes), span.name == USER_PROMPT
    common: JsonObject = {}
    for name, its in _NAMES.items():
        if span.attributes.get(name) not in (None, _REDACTED):
            common.setdefault(
                "output.value" if name == "prompt" and is_prompt else its, span.attributes[name]
            )
    read = counted.whole_number("input_tokens")
    if read is not None:
        cached = (counted.whole_number(name) or 0 for name in ("cache_read_tokens", "cache_creation_tokens"))
        common["gen_ai.usage.input_tokens"] = read + sum(cached)
    if "model" in span.attributes:
        common.setdefault("gen_ai.system", "anthropic")
    return common | span.attributes
