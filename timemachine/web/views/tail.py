"""What is new in a session while it is recorded, for a timeline that stands open."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from timemachine.judging.queries import spent_on
from timemachine.recording.models import Session
from timemachine.recording.queries import session_of
from timemachine.timeline import queries
from timemachine.timeline.rows import SIDE
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.step_notes import noted_rows
from timemachine.web.views.timeline import Asked, asked_of, chips_of, kept_by, minimap_of, whole


@require_safe
def tail(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/tail/`: what came after the step `since`, as the timeline of the same query shows it; 204 where nothing did."""
    session = session_of(of(request).project, id)
    since = whole(request.GET.get("since", "")) or 0
    if session.last_sequence <= since and session.status == Session.RECORDING:
        return HttpResponse(status=204)
    return page(request, "sessions/tail.html", _news(session, asked_of(request.GET), since))


def _news(session: Session, asked: Asked, since: int) -> dict[str, Any]:
    """The rows since a step, and what else of the timeline says how long the session is."""
    shown = asked.shown
    window = queries.rows_since(session, since, asked.seen, asked.step)
    new = queries.matches_since(session, since, shown)
    return {
        "session": session,
        "asked": asked,
        "here": kept_by(asked),
        "sequence": asked.step,
        "since": since,
        "window": window,
        "noted": noted_rows(session, window),
        "new": new,
        "beyond": max(1, new - SIDE),
        "newest": queries.last_match(session, shown),
        "next": queries.next_match(session, asked.step or 0, shown),
        "matches": queries.matches(session, shown),
        "chips": chips_of(session, shown),
        "terms": [(term, str(shown.without(term))) for term in shown.terms],
        "whole": str(shown.within(None)),
        "errors_filter": str(shown.with_status("error")),
        "judged_cost": spent_on(session),
        "minimap": minimap_of(session, asked),
    }
