"""Whether an open timeline has to expect new steps."""

from datetime import timedelta
from typing import Final

from django.utils.timezone import now

from timemachine.recording.sessions.models import Session

GROWING: Final = "growing"
GROWS_FOR: Final = timedelta(minutes=10)


def live_status(session: Session) -> str:
    """Return the session's status, or `growing` for an imported session whose last step is less than ten minutes old: the file of
    an agent at work grows, and its lines are imported one after the other. Nothing else can be recorded in it, so it is not `recording`."""
    latest = session.last_step_ended_at if session.imported_as is not None else None
    return GROWING if latest is not None and latest > now() - GROWS_FOR else session.status
