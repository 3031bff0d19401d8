"""Summaries of sessions in collections, which stay when a session is deleted."""

from typing import Final

from django.db.models import Exists, OuterRef

from timemachine.recording.answering.models import SessionSummary
from timemachine.recording.sessions.deletions import SummaryFrame
from timemachine.recording.sessions.models import Session

HAS_SUMMARY: Final = Exists(SessionSummary.objects.filter(session=OuterRef("pk")))
"""Whether a summary of the session is in a collection."""


def remaining_summaries(session: Session, *, since: int = 0) -> list[SummaryFrame]:
    """Return the collections and frames of the session's summaries, which remain when it is deleted. One query.

    With `since`, only summaries written when there was that step: no others can cite it.
    """
    found = SessionSummary.objects.filter(session=session, through__gte=since)
    found = found.order_by("collection__name", "number")
    places = found.values_list("collection__name", "number").distinct()
    return [SummaryFrame(collection=name, frame=number) for name, number in places]
