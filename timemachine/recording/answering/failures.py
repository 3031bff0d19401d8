"""What the record of a failed ask contains: the provider's error, the requested parameters, and any partial text."""

from dataclasses import asdict
from typing import Any

from timemachine.core.pure.errors import TimeMachineError
from timemachine.recording.answering.model_asks import CallParameters
from timemachine.recording.sessions.pure.vocabulary import PARTIAL_TEXT

_RECORDED = ("status", "attempts", "retry_after_seconds", "provider_error", "connection_error")


def partial_output(failed: TimeMachineError) -> dict[str, str] | None:
    """Return what the model had written when the call failed, or None."""
    text = failed.facts.get(PARTIAL_TEXT)
    return {PARTIAL_TEXT: text} if text else None


def failed_parameters(failed: TimeMachineError, asked: CallParameters) -> dict[str, Any] | None:
    """Return the requested parameters and what is known of the failure apart from its message."""
    known = {**asdict(asked), **{name: failed.facts.get(name) for name in _RECORDED}}
    return {name: value for name, value in known.items() if value is not None} or None


def with_sequence(failed: TimeMachineError, sequence: int | None) -> TimeMachineError:
    """Return the error with the step that records it."""
    if sequence is None:
        return failed
    return type(failed)(failed.message, code=failed.code, **{**failed.facts, "sequence": sequence})
