"""Exports as HTTP downloads."""

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from timemachine.recording.importing.exporting import export_session
from timemachine.recording.sessions.models import Session

LAST_SEQUENCE = "Last-Sequence"


def sent(session: Session, format_name: str | None) -> StreamingHttpResponse:
    """Return the export, streamed while it is written; a header gives its last sequence. Raises as `export_session`.

    If it cannot be completed, its last line says so, and it cannot be imported.
    """
    file = export_session(session, format_name)
    headers = {
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": content_disposition_header(as_attachment=True, filename=file.name)
        or "attachment",
        LAST_SEQUENCE: str(file.through),
    }
    return StreamingHttpResponse(file.parts, content_type=file.media_type, headers=headers)
