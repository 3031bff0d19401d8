"""Classify spans by the conventions that name their kind.

OpenTelemetry's GenAI conventions (`gen_ai.operation.name`), OpenInference (`openinference.span.kind`), OpenLLMetry
(`traceloop.span.kind`), Langfuse (`langfuse.observation.type`) and MLflow (`mlflow.spanType`). Any other span is an
event.
"""

from typing import Final, NamedTuple

from timemachine.recording.otel.pure.attributes import Attributes


class Kind(NamedTuple):
    """The kind of the action, with its layer and role if the convention implies them."""

    kind: str
    layer: str | None = None
    role: str | None = None


CALL: Final = Kind("llm_call", "agent", "agent")
TOOL: Final = Kind("tool_call", "tool", "tool")
FIND: Final = Kind("find", "tool")
MEMORY: Final = Kind("memory_op", "agent")
AGENT: Final = Kind("event", "agent")
PLAIN: Final = Kind("event")

_OPERATIONS: Final = {
    "chat": CALL,
    "generate_content": CALL,
    "text_completion": CALL,
    "completion": CALL,
    "embeddings": CALL,
    "execute_tool": TOOL,
    "retrieval": FIND,
    "invoke_agent": AGENT,
    "create_agent": AGENT,
    "invoke_workflow": AGENT,
}
_KINDS: Final = {
    "llm": CALL,
    "chat_model": CALL,
    "generation": CALL,
    "embedding": CALL,
    "tool": TOOL,
    "retriever": FIND,
    "reranker": FIND,
    "memory": MEMORY,
    "agent": AGENT,
    "chain": AGENT,
    "workflow": AGENT,
    "task": AGENT,
    "guardrail": AGENT,
    "evaluator": AGENT,
    "prompt": AGENT,
}
_NAMED: Final = (
    "openinference.span.kind",
    "traceloop.span.kind",
    "langfuse.observation.type",
    "mlflow.spanType",
)
_CALLED: Final = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "llm.request.type")


def kind_of(attributes: Attributes) -> Kind:
    """Return the kind of a span, by the most specific convention that names it."""
    operation = (attributes.text("gen_ai.operation.name") or "").lower()
    if "memory" in operation:
        return MEMORY
    named = ((attributes.text(name) or "").strip('"').lower() for name in _NAMED)
    known = [kind for kind in (_OPERATIONS.get(operation), *map(_KINDS.get, named)) if kind is not None]
    if known:
        return known[0]
    return CALL if attributes.first(*_CALLED) is not None else PLAIN
