"""The environment of a checkpoint, without what is secret in it."""

from dataclasses import replace
from typing import Any, Final

from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.values import redact_value

_SECRETS: Final = Rules(detect=("secret",))


def without_secrets(state: dict[str, Any]) -> dict[str, Any]:
    """The state with the secrets of its `environment` withheld; the same one where it has none."""
    if state.get("environment") is None:
        return state
    return {**state, "environment": redact_value(state["environment"], _SECRETS).value}


def as_kept(draft: ActionDraft) -> ActionDraft:
    """The action as it may be kept: a checkpoint that a program sends as an action, or another tool's file has, is one like any other."""
    if draft.kind != "checkpoint":
        return draft
    state = without_secrets(draft.output) if isinstance(draft.output, dict) else draft.output
    return replace(draft, output=state, source=_without_environments(draft.source))


def _without_environments(source: Any) -> Any:
    """What another tool wrote, with the secrets of every `environment` in it withheld."""
    if isinstance(source, list):
        return [_without_environments(each) for each in source]
    if isinstance(source, dict):
        return without_secrets({name: _without_environments(each) for name, each in source.items()})
    return source
