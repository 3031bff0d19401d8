"""The providers' finish reasons: which ended, cut off or refused an answer, and what they mean in words."""

from collections.abc import Mapping
from typing import Final

ENDED: Final = frozenset({"stop", "end_turn", "stop_sequence"})
REFUSED: Final = frozenset({"refusal", "content_filter"})
_TOO_LONG: Final = "The answer was cut off: it reached the token limit"
_CONTEXT_FULL: Final = "The answer was cut off: question and answer filled the model's context window"
_EXPLANATIONS: Final[Mapping[str, str]] = {
    "length": _TOO_LONG,
    "max_tokens": _TOO_LONG,
    "model_length": _CONTEXT_FULL,
    "model_context_window_exceeded": _CONTEXT_FULL,
    "content_filter": "The provider's content filter removed all or part of the answer",
    "refusal": "The provider reports that the model refused to answer",
}
CUT_SHORT: Final = frozenset(_EXPLANATIONS) - {"refusal"}


def ended_in_words(reason: object) -> str | None:
    """Explain a finish reason that leaves no complete answer. Return None for any other reason."""
    words = _EXPLANATIONS.get(reason) if isinstance(reason, str) else None
    return None if words is None else f"{words} ({reason})."
