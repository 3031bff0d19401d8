"""Whether an open timeline has to expect new steps."""

from datetime import timedelta
from typing import Final

from django.utils.timezone import now

from timemachine.recording.sessions.models import Session

GROWS_FOR: Final = timedelta(minutes=10)


def live_status(session: Session) -> str:
    """Return `recording` while new steps can come, else the session's status. They can also come to an imported session whose last
    step is less than ten minutes old: the file of an agent at work grows, and its lines are imported one after the other."""
    latest = session.last_step_ended_at if session.imported_as is not None else None
    return Session.RECORDING if latest is not None and latest > now() - GROWS_FOR else session.status
