"""Suggestions for the filter of a timeline."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.suggestions import suggestions
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.sessions.views.timeline import whole

LONGEST = 2_000


@require_safe
def suggest(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/suggest/`: completions of `filter` at the caret, after `at` characters; by default at its end."""
    session = session_of(of(request).project, id)
    text = request.GET.get("filter", "")[:LONGEST]
    at = whole(request.GET.get("at", ""))
    found = suggestions(session, text, len(text) if at is None else at)
    return page(request, "sessions/suggestions.html", {"suggestions": found})
