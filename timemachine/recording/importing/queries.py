"""Queries about file imports."""

from dataclasses import dataclass

from django.db.models import QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.recording.importing.models import FileImport
from timemachine.recording.sessions.models import ErasedSession, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCounts:
    """How many actions a file has for a session, and how many of them had been recorded before.

    `deleted_before` is the deletion of an earlier session with this key. `deleted_turns` counts steps of the session
    that were deleted here and stay deleted.
    """

    actions: int
    already_there: int
    deleted_before: ErasedSession | None = None
    deleted_turns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOfImport(ImportCounts):
    """A session that a file was imported as. `session` is None once it was erased."""

    session: Session | None


def import_of(project: Project, import_id: str) -> FileImport:
    """Return the project's import with this id, without its file. Raises `NotFound`, also for another project's import."""
    id_ = uuid_of(import_id)
    imports = FileImport.objects.filter(project=project).defer("data")
    found = None if id_ is None else imports.filter(id=id_).first()
    if found is None:
        raise NotFound("There is no such import in this project.", code="import_not_found")
    return found


def sessions_of(found: FileImport, most: int) -> list[SessionOfImport]:
    """Return the first sessions that were imported from the file."""
    stored = found.sessions[:most]
    there = Session.objects.of(found.project).in_bulk([each["id"] for each in stored])
    deletions = ErasedSession.objects.filter(project=found.project_id).in_bulk(
        [each["deleted_before"] for each in stored if each.get("deleted_before")]
    )
    by_id = {str(session_id): session for session_id, session in there.items()}
    return [
        SessionOfImport(
            session=by_id.get(each["id"]),
            actions=each["actions"],
            already_there=each["already_there"],
            deleted_before=deletions.get(each.get("deleted_before")),
            deleted_turns=each.get("deleted_turns", 0),
        )
        for each in stored
    ]


def imports_of(session: Session) -> QuerySet[FileImport]:
    """Return the imports that recorded a session or a part of it, without their files."""
    found = FileImport.objects.filter(
        project=session.project_id, sessions__contains=[{"id": str(session.id)}]
    )
    return found.defer("data")
