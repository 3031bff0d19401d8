"""Reactions to signals of lower packages."""

from typing import Any

from django.dispatch import receiver

from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.recording.otel.moving import session_moved
from timemachine.recording.sessions.models import Session


@receiver(session_moved)
def delete_moved_session(session: Session, by: str, reason: str, **_: Any) -> None:
    """Delete a session whose actions moved to another one. What was sealed of it leaves a tombstone."""
    erase_session(session, by=by, reason=reason, moved=True)
