"""How an answer ended: a provider's own word for it, and what that means in ours. Pure."""

from collections.abc import Mapping
from typing import Final

ENDED: Final = frozenset({"stop", "end_turn", "stop_sequence"})
REFUSED: Final = frozenset({"refusal", "content_filter"})
_TOO_LONG: Final = "The answer is cut off: it reached the most tokens that it may have"
_NO_ROOM: Final = "The answer is cut off: question and answer fill all that the model can read"
_WORDS: Final[Mapping[str, str]] = {
    "length": _TOO_LONG,
    "max_tokens": _TOO_LONG,
    "model_length": _NO_ROOM,
    "model_context_window_exceeded": _NO_ROOM,
    "content_filter": "The provider's filter took the answer away, or the rest of it",
    "refusal": "The provider says that the model refused to answer",
}
CUT_SHORT: Final = frozenset(_WORDS) - {"refusal"}


def ended_in_words(reason: object) -> str | None:
    """A sentence for a reason that leaves no whole answer, with the provider's word in brackets; None for any other."""
    words = _WORDS.get(reason) if isinstance(reason, str) else None
    return None if words is None else f"{words} ({reason})."
