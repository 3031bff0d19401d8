"""Finished imports. Their files are no longer stored; their reports are."""

from typing import Any

from django.db.models import QuerySet

from timemachine.recording.importing.models import FileImport
from timemachine.recording.sessions.models import Session
from timemachine.text.redaction.pure.marks import FIELD, erased


def imports_of(session: Session) -> QuerySet[FileImport]:
    """Return the imports that recorded a session or a part of it, without their files."""
    found = FileImport.objects.filter(
        project=session.project_id, sessions__contains=[{"id": str(session.id)}]
    )
    return found.defer("data")


def erase_from_imports(session: Session) -> None:
    """Erase file names and report texts from the imports of a session that is about to be erased. Counts stay."""
    for each in imports_of(session):
        FileImport.objects.filter(pk=each.pk).update(
            name=erased(FIELD), report=_counts_only(each.report), error_message=None
        )


def _counts_only(report: dict[str, Any] | None) -> dict[str, Any] | None:
    if report is None:
        return None
    skipped = [{"line": each["line"], "reason": erased(FIELD)} for each in report["skipped"]]
    return report | {"skipped": skipped, "notes": []}
