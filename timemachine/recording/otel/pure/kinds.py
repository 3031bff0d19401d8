"""Classify spans by the conventions that name their kind.

OpenTelemetry's GenAI conventions (`gen_ai.operation.name`), Vercel's AI SDK (`ai.operationId`, else the first word of
`operation.name`), Claude Code (the name of the span), OpenInference (`openinference.span.kind`), OpenLLMetry
(`traceloop.span.kind`), Langfuse (`langfuse.observation.type`), MLflow (`mlflow.spanType`) and LangSmith
(`langsmith.span.kind`). Any other span is an event.
"""

from typing import Final, NamedTuple

from timemachine.recording.otel.pure import claude_code, llama_index
from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.span import Span


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
PROMPT: Final = Kind("message", "agent", "user")
PLAIN: Final = Kind("event")

EMBEDDINGS: Final = "embeddings"
_EMBEDDING: Final = frozenset({EMBEDDINGS, "embedding", "aembedding"})
"""What the conventions call it, the last one is LiteLLM's."""
_TOOL_NAME: Final = "gen_ai.tool.name"
_OF_PYDANTIC_AI: Final = ("tool_arguments", "logfire.msg")
"""What earlier versions of Pydantic AI write at the spans of tools, instead of an operation. A result can
name its tool, too."""
_MERGED_TOOLS: Final = "(merged tools)"
"""The span of Google's ADK around the results of several tools, each of which has a span."""
_OPERATIONS: Final = {
    "chat": CALL,
    "generate_content": CALL,
    "text_completion": CALL,
    "completion": CALL,
    "responses": CALL,
    "image_generation": CALL,
    **dict.fromkeys(_EMBEDDING, CALL),
    "execute_tool": TOOL,
    "retrieval": FIND,
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
_LANGSMITH: Final = "langsmith.span.kind"
"""Precedes the operation: LangSmith writes `chat` for prompts, and `embeddings` for retrievers."""
_REQUEST_TYPE: Final = "llm.request.type"
_CALLED: Final = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name")
_CLAUDE_CODE: Final = {
    "claude_code.interaction": AGENT,
    claude_code.LLM_REQUEST: CALL,
    claude_code.API_REQUEST: CALL,
    claude_code.TOOL_SPAN: TOOL,
    claude_code.TOOL_RESULT: TOOL,
    claude_code.USER_PROMPT: PROMPT,
}
"""Other spans and log records of Claude Code, such as the parts of a tool's execution, are events."""
_AI_SDK: Final = "ai."
_AI_SDK_CALLS: Final = (".doGenerate", ".doStream", ".doEmbed")


def kind_of(span: Span) -> Kind:
    """Return the kind of a span, by the most specific convention that names it.

    A span with another operation, such as `agent_step`, is no model call even if it names a model.
    """
    attributes = Attributes(span.attributes)
    if claude_code.is_of_claude_code(span):
        return _CLAUDE_CODE.get(span.name, PLAIN)
    if llama_index.is_preparation(span):
        return AGENT
    if (called := ai_sdk_operation(attributes)) is not None:
        return TOOL if called == "ai.toolCall" else CALL if called.endswith(_AI_SDK_CALLS) else AGENT
    return _of_convention(attributes)


def _of_convention(attributes: Attributes) -> Kind:
    operation = (attributes.text("gen_ai.operation.name") or "").lower()
    of_langsmith = _KINDS.get((attributes.text(_LANGSMITH) or "").lower())
    if of_langsmith is not None:
        return of_langsmith
    if "memory" in operation:
        return MEMORY
    if attributes.text(_TOOL_NAME) == _MERGED_TOOLS:
        return AGENT
    named = ((attributes.text(name) or "").strip('"').lower() for name in _NAMED)
    known = (kind for kind in (_OPERATIONS.get(operation), *map(_KINDS.get, named)) if kind is not None)
    return next(known, None) or _by_attributes(attributes, operation)


def _by_attributes(attributes: Attributes, operation: str) -> Kind:
    """Return the kind of a span that no convention names, by what it has."""
    if attributes.first(_REQUEST_TYPE) is not None:
        return CALL
    if operation:
        return AGENT
    if attributes.first(*_CALLED) is not None:
        return CALL
    runs_tool = attributes.first(_TOOL_NAME) is not None and attributes.first(*_OF_PYDANTIC_AI) is not None
    return TOOL if runs_tool else PLAIN


def ai_sdk_operation(attributes: Attributes) -> str | None:
    """Return what a span of Vercel's AI SDK did, such as `ai.generateText.doGenerate`; None for other spans."""
    written = attributes.text("ai.operationId", "operation.name") or ""
    return written.split()[0] if written.startswith(_AI_SDK) else None


def is_embedding(attributes: Attributes) -> bool:
    """Return whether the span computes embeddings: it reads tokens and writes none."""
    named = {attributes.text(name) for name in ("gen_ai.operation.name", _REQUEST_TYPE, *_NAMED)}
    kinds = {each.strip('"').lower() for each in named if each}
    return bool(kinds & _EMBEDDING) or (ai_sdk_operation(attributes) or "").endswith(".doEmbed")
