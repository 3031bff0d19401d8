"""What an action of a span states about model calls: tokens and a cost."""

from dataclasses import fields
from typing import Final

from timemachine.recording.otel.pure.kinds import EMBEDDINGS
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import OPERATION

CALL: Final = "llm_call"
TOOL: Final = "tool_call"
EVENT: Final = "event"
TOKENS: Final = tuple(each.name for each in fields(Usage))


def is_counted(draft: ActionDraft) -> bool:
    """Return whether the action states tokens or a cost, other than 0."""
    tokens = draft.usage and any(getattr(draft.usage, name) for name in TOKENS)
    return bool(tokens or draft.cost_usd)


def states_sums(draft: ActionDraft) -> bool:
    """Return whether a span that is not a call states tokens or a cost."""
    return draft.kind == EVENT and is_counted(draft)


def tokens_of(draft: ActionDraft) -> tuple[int, int]:
    """Return the input and output tokens; 0 for what is not known."""
    usage = draft.usage or Usage()
    return usage.input_tokens or 0, usage.output_tokens or 0


def is_embedding(draft: ActionDraft) -> bool:
    """Return whether the action computed embeddings."""
    return (draft.parameters or {}).get(OPERATION) == EMBEDDINGS
