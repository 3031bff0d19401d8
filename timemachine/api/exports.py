"""Exporting a session over HTTP."""

from django.http import HttpRequest, StreamingHttpResponse

from timemachine.api import routers
from timemachine.api.access import caller
from timemachine.api.openapi import file_answer
from timemachine.recording.importing.downloads import sent
from timemachine.recording.importing.exporting import EXPORTS
from timemachine.recording.sessions.queries import session_of


@routers.sessions.get(
    "/{session_id}/export",
    tags=["export"],
    summary="A session as a file",
    openapi_extra=file_answer(*(each.media_type for each in EXPORTS.values())),
)
def export(
    request: HttpRequest,
    session_id: str,
    format: str | None = None,  # noqa: A002  # the name is the contract's
) -> StreamingHttpResponse:
    """The session as it stands at this moment, also while it is recorded: `Last-Sequence` is the last step in the file.

    `format` is `timemachine` (the default; importing it gives an equal session), `atif`, `otlp_json` or `zip`.
    """
    return sent(session_of(caller(request, "read").project, session_id), format)
