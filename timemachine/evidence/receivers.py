"""Reactions to signals of lower packages."""

from typing import Any

from django.dispatch import receiver

from timemachine.evidence.models import Seal
from timemachine.evidence.pure.checkpoint import OPEN
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.recording.otel.moving import session_moved
from timemachine.recording.sessions.commands import end_moved
from timemachine.recording.sessions.models import Session


@receiver(session_moved)
def delete_moved_session(session: Session, by: str, reason: str, **_: Any) -> None:
    """Delete a session whose actions moved to another one. What was sealed of it leaves a tombstone."""
    erase_session(session, by=by, reason=reason, moved=True)


@receiver(end_moved)
def sign_end_again(session: Session, **_: Any) -> None:
    """Have the state of a seal signed again, with the later end. The earlier state stays in the log."""
    Seal.objects.filter(session=session).update(state=OPEN)
