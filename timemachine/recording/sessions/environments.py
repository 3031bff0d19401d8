"""Withhold the secrets in the environment of a checkpoint."""

from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.values import redact_value

_SECRETS: Final = Rules(detect=("secret",))


def redact_environment(state: JsonObject) -> JsonObject:
    """Return the state with the secrets of its `environment` withheld."""
    if state.get("environment") is None:
        return state
    return {**state, "environment": redact_value(state["environment"], _SECRETS).value}


def redact_checkpoint(draft: ActionDraft) -> ActionDraft:
    """Return the action as it may be stored: in every checkpoint, wherever it comes from, secrets of the environment are
    withheld."""
    if draft.kind != "checkpoint":
        return draft
    state = redact_environment(draft.output) if isinstance(draft.output, dict) else draft.output
    return replace(draft, output=state, source=_without_environments(draft.source))


def _without_environments(source: Any) -> Any:
    """Return another tool's record with the secrets of every `environment` in it withheld."""
    if isinstance(source, list):
        return [_without_environments(each) for each in source]
    if isinstance(source, dict):
        return redact_environment({name: _without_environments(each) for name, each in source.items()})
    return source
