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
_OPENINFERENCE: Final = {
    "LLM": CALL,
    "EMBEDDING": CALL,
    "TOOL": TOOL,
    "RETRIEVER": FIND,
    "RERANKER": FIND,
    "AGENT": AGENT,
    "CHAIN": AGENT,
    "GUARDRAIL": AGENT,
    "EVALUATOR": AGENT,
    "PROMPT": AGENT,
}
_TRACELOOP: Final = {"workflow": AGENT, "task": AGENT, "agent": AGENT, "tool": TOOL}
_LANGFUSE: Final = {
    "generation": CALL,
    "embedding": CALL,
    "tool": TOOL,
    "retriever": FIND,
    "agent": AGENT,
    "chain": AGENT,
    "evaluator": AGENT,
    "guardrail": AGENT,
}
_MLFLOW: Final = {
    "LLM": CALL,
    "CHAT_MODEL": CALL,
    "EMBEDDING": CALL,
    "TOOL": TOOL,
    "RETRIEVER": FIND,
    "RERANKER": FIND,
    "MEMORY": MEMORY,
    "AGENT": AGENT,
    "CHAIN": AGENT,
}
_CALLED: Final = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "llm.request.type")


def kind_of(attributes: Attributes) -> Kind:
    """Return the kind of a span, by the most specific convention that names it."""
    operation = (attributes.text("gen_ai.operation.name") or "").lower()
    if "memory" in operation:
        return MEMORY
    named = (
        _OPERATIONS.get(operation),
        _OPENINFERENCE.get((attributes.text("openinference.span.kind") or "").upper()),
        _TRACELOOP.get((attributes.text("traceloop.span.kind") or "").lower()),
        _LANGFUSE.get((attributes.text("langfuse.observation.type") or "").lower()),
        _MLFLOW.get((attributes.text("mlflow.spanType") or "").strip('"').upper()),
    )
    known = next((kind for kind in named if kind is not None), None)
    if known is not None:
        return known
    return CALL if attributes.first(*_CALLED) is not None else PLAIN
