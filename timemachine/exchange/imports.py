"""Imports that are over, of which only an account is kept: which recorded a session, and what they forget of it."""

from django.db.models import QuerySet

from timemachine.exchange.models import FileImport
from timemachine.recording.models import Session
from timemachine.redaction.marks import FIELD, erased


def imports_of(session: Session) -> QuerySet[FileImport]:
    """The imports that recorded a session, or some of it; without their files, which are gone."""
    found = FileImport.objects.filter(
        project=session.project_id, sessions__contains=[{"id": str(session.id)}]
    )
    return found.defer("data")


def forget(session: Session) -> None:
    """Erase what its imports say of a session that is about to be erased: the names of files, and the words of their reports."""
    imports_of(session).update(name=erased(FIELD), report=None, error_message=None)
