"""Importing a file of another tool over HTTP: the body is the file."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api.access import caller
from timemachine.api.bodies import body_of
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import InvalidInput
from timemachine.jobs.queue import enqueue
from timemachine.memory.tasks import index_steps
from timemachine.recording.importing.commands import ImportDone, ImportedSession, import_file
from timemachine.recording.importing.file_contents import received
from timemachine.recording.importing.queries import SessionOfImport, import_of, sessions_of
from timemachine.recording.importing.worker import hand_in
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.schemas import SessionOut
from timemachine.recording.tasks import run_import

router = Router(tags=["import"])
kept = Router(tags=["import"])


@router.post("", response={201: dict[str, Any], 202: dict[str, Any]}, summary="Import a file")
def import_(
    request: HttpRequest,
    format: str | None = None,  # noqa: A002  # the name is the contract's
    filename: str | None = None,
    later: bool = False,
) -> Status[dict[str, Any]]:
    """Import the file in the body; what became of every line is in the report. `format` is a format's name, or `auto`.

    Of a session that was deleted here before, `deleted_before` says when, by whom and why: it comes again. Steps that were deleted stay so
    (`deleted_turns`).

    The body may be packed with gzip. It may have 512 MB, also unpacked.

    With `later`, and always above 64 MB, a worker imports it: the answer is 202 with `import_id`, and `GET /api/imports/{import_id}` says how far it is.
    """
    who = caller(request, "record")
    with received(body_of(request)) as data:
        if not data:
            raise InvalidInput(
                "The file is empty; the body of the request has to be the file.", code="empty_file"
            )
        if later or len(data) > settings.MAX_REQUEST_BYTES:
            found = hand_in(who.project, data, by=who.by, format_name=format, filename=filename)
            enqueue(run_import, found.id)
            return Status(202, {"import_id": str(found.id)})
        done = import_file(who.project, data, by=who.by, format_name=format, filename=filename)
    enqueue(index_steps, who.project.id)
    return Status(201, import_json(done))


@kept.get("/{import_id}", summary="One import")
def read(request: HttpRequest, import_id: str) -> dict[str, Any]:
    """How far a worker is with a file, and what it came to: `status` is waiting, running, done or failed.

    A session that was erased since is not listed.
    """
    found = import_of(caller(request, "read").project, import_id)
    failed = found.error_code is not None and found.finished_at is not None
    return {
        "import_id": str(found.id),
        "name": found.name,
        "format": found.format,
        "status": found.status,
        "done": found.done,
        "total": found.total,
        "error": {"code": found.error_code, "message": found.error_message} if failed else None,
        "sessions": [
            _session(each.session, each)
            for each in sessions_of(found, len(found.sessions))
            if each.session is not None
        ],
        "report": found.report,
    }


def import_json(done: ImportDone) -> dict[str, Any]:
    """What an import came to."""
    sessions = [_session(each.session, each) for each in done.sessions]
    return {"sessions": sessions, "report": done.report.as_json()}


def _session(session: Session, found: ImportedSession | SessionOfImport) -> dict[str, Any]:
    about = SessionOut.of(session).model_dump()
    told = {name: about[name] for name in ("id", "key", "name", "url")}
    before = found.deleted_before
    deleted = before and {
        "at": written(before.erased_at),
        "by": before.erased_by,
        "reason": before.reason,
        "summaries": before.summaries,
    }
    counts = {"actions": found.actions, "already_there": found.already_there}
    return {**told, **counts, "deleted_before": deleted, "deleted_turns": found.deleted_turns}
