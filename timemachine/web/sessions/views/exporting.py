"""Export a session as a file in one of several formats."""

from typing import Final

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_safe

from timemachine.recording.importing.exporting import EXPORTS, sent
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import of
from timemachine.web.http import page

LONG: Final = 20_000
"""From this number of steps, the page warns that the download takes a while."""


@require_safe
def choose(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/export/`: the formats, each with a download link."""
    session = session_of(of(request).project, id)
    context = {"session": session, "exports": list(EXPORTS.values()), "long": session.last_sequence >= LONG}
    return page(request, "sessions/export.html", context)


@require_safe
def file(request: HttpRequest, id: str, format_name: str) -> StreamingHttpResponse:  # noqa: A002
    """`/sessions/{id}/export/{format}`: the session up to now."""
    return sent(session_of(of(request).project, id), format_name)
