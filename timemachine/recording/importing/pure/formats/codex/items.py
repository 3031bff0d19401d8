"""Which items of a Codex rollout the model wrote, and which are results."""

from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.values import text_at

CALLS: Final = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "web_search_call",
        "mcp_tool_call",
        "tool_search_call",
        "image_generation_call",
    }
)
RESULTS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "mcp_tool_call_output", "tool_search_output"}
)


def by_model(record: JsonObject) -> bool:
    """Return whether a line is an item that the model wrote."""
    payload = record["payload"]
    kind = text_at(payload, "type")
    wrote = kind == "reasoning" or kind in CALLS or (kind == "message" and payload.get("role") == "assistant")
    return record["type"] == "response_item" and wrote
