"""Checkpoints: the state of an agent at a step, from which it can resume."""

from uuid import UUID

from timemachine.core.payloads.queries import value
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.queries import checkpoint_of
from timemachine.recording.sessions.schemas import ResumedOut


def set_checkpoint(
    session_id: UUID,
    name: str,
    state: JsonObject,
    *,
    agent: str | None = None,
    idempotency_key: str | None = None,
    request_sha256: str = "",
) -> int:
    """Record a checkpoint and return its sequence; for a repeated idempotency key, that of the first.

    `agent` defaults to the session's. Secrets in `environment` are withheld before anything is stored.

    Raises `InvalidInput` for an empty name, and what `append` raises.
    """
    if not name.strip():
        raise InvalidInput("A checkpoint needs a name.", code="invalid_field", field="name")
    draft = ActionDraft(kind="checkpoint", layer="agent", agent=agent, name=name, output=dict(state))
    return append(session_id, [draft], idempotency_key=idempotency_key, request_sha256=request_sha256)[0]


def resume(session: Session, checkpoint: int | str | None) -> ResumedOut:
    """Return the state of the checkpoint with that sequence or name, or of the last one. Raises `NotFound`."""
    found = checkpoint_of(session, checkpoint)
    state = value(found.output)
    return ResumedOut.of(found, state if isinstance(state, dict) else {})
