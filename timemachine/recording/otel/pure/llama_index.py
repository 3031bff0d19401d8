"""LlamaIndex, as OpenInference's instrumentation records it: a span for every method, with Python's arguments and results."""

from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.span import Span

_SCOPE: Final = "openinference.instrumentation.llama_index"
_PREPARATION: Final = "._prepare_chat_with_tools"
"""Ends the name of the spans that have the kind of a model call, but only put its arguments together."""


def is_preparation(span: Span) -> bool:
    """Return whether a span prepares a model call, which has a span of its own."""
    return span.scope.get("name") == _SCOPE and span.name.endswith(_PREPARATION)


def common_names(span: Span) -> JsonObject:
    """Return arguments and result of a tool under the names that others use."""
    if span.scope.get("name") != _SCOPE or span.attributes.get("openinference.span.kind") != "TOOL":
        return {}
    attributes = Attributes(span.attributes)
    found = {
        "gen_ai.tool.call.arguments": _arguments(attributes.value("input.value")),
        "gen_ai.tool.call.result": _result(attributes.value("output.value")),
    }
    return {name: value for name, value in found.items() if value is not None}


def _arguments(given: Any) -> JsonObject | None:
    """Return the arguments that the model chose, which are passed by name."""
    if not isinstance(given, dict) or given.get("args"):
        return None
    named = given.get("kwargs")
    return named if isinstance(named, dict) else None


def _result(output: Any) -> str | None:
    """Return the text that the model gets; None if a `ToolOutput` has other parts, or the output is something else."""
    blocks = output.get("blocks") if isinstance(output, dict) else None
    texts = [_text(each) for each in blocks] if isinstance(blocks, list) else []
    found = [each for each in texts if each is not None]
    return "\n".join(found) if found and len(found) == len(texts) else None


def _text(block: Any) -> str | None:
    if not isinstance(block, dict) or block.keys() - {"text", "block_type"}:
        return None
    text = block.get("text")
    return text if isinstance(text, str) else None
