"""Summaries of sessions that stay: a frame of a collection goes with no session that it was made of."""

from typing import Any, Final

from django.db.models import Exists, OuterRef

from timemachine.recording.answering.models import SessionSummary
from timemachine.recording.sessions.models import Session

HAS_SUMMARY: Final = Exists(SessionSummary.objects.filter(session=OuterRef("pk")))
"""Whether a summary of a session was put into a collection."""


def that_stay(session: Session, *, since: int = 0) -> list[dict[str, Any]]:
    """In which collections a summary of the session stands, and as which frames: what stays of it once it is deleted. One query.

    With `since` those only that were written when there was that step: no other can quote it.
    """
    found = SessionSummary.objects.filter(session=session, through__gte=since)
    found = found.order_by("collection__name", "number")
    places = found.values_list("collection__name", "number").distinct()
    return [{"collection": name, "frame": number} for name, number in places]
