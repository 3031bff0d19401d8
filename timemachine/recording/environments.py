"""The environment of a checkpoint, without what is secret in it."""

from dataclasses import replace
from typing import Any, Final

from timemachine.recording.draft import ActionDraft
from timemachine.redaction.rules import Rules
from timemachine.redaction.values import redact_value

_SECRETS: Final = Rules(detect=("secret",))


def without_secrets(state: dict[str, Any]) -> dict[str, Any]:
    """The state with the secrets of its `environment` withheld; the same one where it has none."""
    if state.get("environment") is None:
        return state
    return {**state, "environment": redact_value(state["environment"], _SECRETS).value}


def as_kept(draft: ActionDraft) -> ActionDraft:
    """The action as it may be kept: a checkpoint that a program sends as an action is one like any other."""
    if draft.kind != "checkpoint" or not isinstance(draft.output, dict):
        return draft
    return replace(draft, output=without_secrets(draft.output))
