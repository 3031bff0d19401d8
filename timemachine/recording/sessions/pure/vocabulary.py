"""The values that fields of an action may have."""

from typing import Any, Final, Literal, get_args

Kind = Literal[
    "put",
    "find",
    "ask",
    "llm_call",
    "tool_call",
    "tool_result",
    "memory_op",
    "message",
    "event",
    "checkpoint",
]
Layer = Literal["agent", "tool", "sys"]
Role = Literal["user", "agent", "system", "tool"]
Significance = Literal["normal", "hypothesis", "error", "decision", "solution", "breakthrough"]
Status = Literal["recording", "ended"]

KINDS: Final[tuple[str, ...]] = get_args(Kind)
MODEL_CALL: Final = "llm_call"
"""The kind that is always a model call. A step of another kind is one if it names a model."""
MODEL_CALLS: Final = ("ask", MODEL_CALL)
"""Kinds that call a model, except an ask that names none: a tool answered in a model's place."""
SPENDING: Final = (*MODEL_CALLS, "event")
"""Kinds whose tokens cost something: the event of an agent can have the sums of calls that were not recorded."""
LAYERS: Final[tuple[str, ...]] = get_args(Layer)
ROLES: Final[tuple[str, ...]] = get_args(Role)
SAME_ROLE: Final = {"assistant": "agent", "model": "agent", "human": "user", "developer": "system"}
"""Other names of roles, as chats and models use them; the recorder has the same table."""
STATUSES: Final[tuple[str, ...]] = get_args(Status)
DEFAULT_IMPORTANCE: Final = {
    "normal": 0.72,
    "hypothesis": 0.75,
    "error": 0.80,
    "decision": 0.92,
    "solution": 0.95,
    "breakthrough": 0.97,
}
SIGNIFICANCES: Final[tuple[str, ...]] = get_args(Significance)
MODES: Final = ("hybrid", "semantic", "lexical")

PARTIAL_TEXT: Final = "partial_text"
"""The only field of a failed ask's output. The output is an object so that it is not mistaken for an answer, which is a text."""

COMPACTION: Final = "compaction"
"""The tag of a message that replaces the conversation before it, and of an event that holds what replaces it."""
IN_TEXT: Final = "in_text"
"""The tag of a tool call that the model wrote in the text of its answer, not as a call of its API. Its result was sent to
the model as a message of the user."""
SENT: Final = "sent_to_model"
"""The field of the input of a tool result: the text that the model was given, if it differs from the output."""
SETTINGS: Final = "request_settings"
"""The tag of a step that states what every request after it has. A message of the system is the system prompt, and has
`tools` in its input; an event has `system_prompt` and `tools` in its output."""
OPERATION: Final = "operation"
"""The call parameter that says what a call other than a chat did: `embeddings`, which write no tokens."""


def is_model_call(kind: str, model: str | None) -> bool:
    """Return whether a step is a model call: it names a model, or is of the kind `llm_call`. An ask without a model is not
    one: a tool answered."""
    return model is not None or kind == MODEL_CALL


def is_unknown_cost(
    kind: str,
    *,
    model: str | None,
    cost_usd: object,
    input_tokens: int | None,
    output_tokens: int | None,
    prices: Any,
) -> bool:
    """Return whether a step has an unknown cost: it is a model call or has tokens of calls, but has no cost, and none is
    stated for it with another step."""
    has_tokens = kind in SPENDING and ((input_tokens or 0) > 0 or (output_tokens or 0) > 0)
    is_stated = isinstance(prices, dict) and prices.get("source") == "stated"
    return cost_usd is None and not is_stated and (is_model_call(kind, model) or has_tokens)
