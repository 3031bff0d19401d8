"""The words an action may use. Pure."""

from typing import Final

KINDS: Final = (
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
)
LAYERS: Final = ("agent", "tool", "sys")
ROLES: Final = ("user", "agent", "system", "tool")
DEFAULT_IMPORTANCE: Final = {
    "normal": 0.72,
    "hypothesis": 0.75,
    "error": 0.80,
    "decision": 0.92,
    "solution": 0.95,
    "breakthrough": 0.97,
}
SIGNIFICANCES: Final = tuple(DEFAULT_IMPORTANCE)
MODES: Final = ("hybrid", "semantic", "lexical")

PARTIAL_TEXT: Final = "partial_text"
"""The one field of a failed ask's output: an object, so that nothing takes it for an answer, which is a text."""

CACHED_FOR_AN_HOUR: Final = "cache_write_1h_tokens"
"""The parameter of a call that says how many of its tokens were written to a provider's cache for an hour: they cost more."""
