"""The totals of a session's steps, on a page of their own."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.pure.aggregation import GROUPS
from timemachine.recording.timeline.pure.filter import EVERYTHING, parse
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.sessions.presenters.totals import panel


@require_safe
def totals(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/totals/`: totals of the steps that match `filter`, grouped `by` kind, tool, model or agent. An unknown grouping means kind."""
    session = session_of(of(request).project, id)
    written = request.GET.get("filter", "").strip()
    wrong = None
    try:
        shown = parse(written)
    except InvalidInput as why:
        shown, wrong = EVERYTHING, why
    by = request.GET.get("by", "")
    by = by if by in GROUPS else GROUPS[0]
    here = {"filter": str(shown), "by": by}
    back = reverse("timeline", args=[session.id])
    context = {
        "session": session,
        "here": here,
        "written": written,
        "shown": shown,
        "wrong": wrong,
        "panel": panel(session, by, shown, here=here, name="by", timeline=back),
    }
    return page(request, "sessions/session_totals.html", context, status=422 if wrong else 200)
