"""An export as a download."""

from django.http import FileResponse

from timemachine.exchange.exporting import export_session
from timemachine.recording.models import Session

LAST_SEQUENCE = "Last-Sequence"


def sent(session: Session, format_name: str | None) -> FileResponse:
    """The file, whole before its first byte is sent; it says the last sequence that is in it. Raises as `export_session`."""
    file = export_session(session, format_name)
    headers = {
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        LAST_SEQUENCE: str(file.through),
    }
    return FileResponse(
        file.content, as_attachment=True, filename=file.name, content_type=file.media_type, headers=headers
    )
