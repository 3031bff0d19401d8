"""Imports that are over, of which only an account is kept: which recorded a session, and what they forget of it."""

from typing import Any

from django.db.models import QuerySet

from timemachine.recording.importing.models import FileImport
from timemachine.recording.sessions.models import Session
from timemachine.text.redaction.pure.marks import FIELD, erased


def imports_of(session: Session) -> QuerySet[FileImport]:
    """The imports that recorded a session, or some of it; without their files, which are gone."""
    found = FileImport.objects.filter(
        project=session.project_id, sessions__contains=[{"id": str(session.id)}]
    )
    return found.defer("data")


def forget(session: Session) -> None:
    """Erase what its imports say of a session that is about to be erased: the names of files, and the words of their reports. Their figures stay."""
    for each in imports_of(session):
        FileImport.objects.filter(pk=each.pk).update(
            name=erased(FIELD), report=_figures(each.report), error_message=None
        )


def _figures(report: dict[str, Any] | None) -> dict[str, Any] | None:
    if report is None:
        return None
    skipped = [{"line": each["line"], "reason": erased(FIELD)} for each in report["skipped"]]
    return report | {"skipped": skipped, "notes": []}
