"""Queries about file imports."""

from dataclasses import dataclass

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.recording.importing.models import FileImport
from timemachine.recording.sessions.models import ErasedSession, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOfImport:
    """A session that a file was imported as. `session` is None once it was erased."""

    session: Session | None
    actions: int
    already_there: int
    deleted_before: ErasedSession | None = None
    deleted_turns: int = 0


def import_of(project: Project, import_id: str) -> FileImport:
    """Return the project's import with this id, without its file. Raises `NotFound`, also for another project's import."""
    wanted = uuid_of(import_id)
    imports = FileImport.objects.filter(project=project).defer("data")
    found = None if wanted is None else imports.filter(id=wanted).first()
    if found is None:
        raise NotFound("There is no such import in this project.", code="import_not_found")
    return found


def sessions_of(found: FileImport, most: int) -> list[SessionOfImport]:
    """Return the first sessions that were imported from the file."""
    told = found.sessions[:most]
    there = Session.objects.of(found.project).in_bulk([each["id"] for each in told])
    deletions = ErasedSession.objects.filter(project=found.project_id).in_bulk(
        [each["deleted_before"] for each in told if each.get("deleted_before")]
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
        for each in told
    ]
