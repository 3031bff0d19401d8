"""The values that fields of an action may have."""

from typing import Final, Literal, get_args

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

CACHED_FOR_AN_HOUR: Final = "cache_write_1h_tokens"
"""The call parameter with the number of tokens written to a provider's cache for an hour, which cost more."""
