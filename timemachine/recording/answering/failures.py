"""What a failed ask leaves in the record: the provider's own error, what was asked for, and the text that had come."""

from dataclasses import asdict
from typing import Any

from timemachine.core.pure.errors import TimeMachineError
from timemachine.recording.answering.model_asks import CallParameters
from timemachine.recording.sessions.pure.vocabulary import PARTIAL_TEXT

_KEPT = ("status", "attempts", "retry_after_seconds", "provider_error", "connection_error")


def partial_output(failed: TimeMachineError) -> dict[str, str] | None:
    """What the model had written when the call failed; None where that was nothing."""
    text = failed.facts.get(PARTIAL_TEXT)
    return {PARTIAL_TEXT: text} if text else None


def failed_parameters(failed: TimeMachineError, asked: CallParameters) -> dict[str, Any] | None:
    """What was asked of the model, and what is known of its failure beside the message."""
    known = {**asdict(asked), **{name: failed.facts.get(name) for name in _KEPT}}
    return {name: value for name, value in known.items() if value is not None} or None


def recorded_as(failed: TimeMachineError, sequence: int | None) -> TimeMachineError:
    """The failure, with the step that records it."""
    if sequence is None:
        return failed
    return type(failed)(failed.message, code=failed.code, **{**failed.facts, "sequence": sequence})
