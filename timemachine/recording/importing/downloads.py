"""An export as a download."""

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from timemachine.recording.importing.exporting import export_session
from timemachine.recording.sessions.models import Session

LAST_SEQUENCE = "Last-Sequence"


def sent(session: Session, format_name: str | None) -> StreamingHttpResponse:
    """The file, sent while it is written; it says the last sequence that is in it. Raises as `export_session`.

    Where it cannot be written to its end it says so in its last line, and can be read as no file of its format.
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
