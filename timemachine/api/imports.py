"""Importing a file of another tool over HTTP: the body is the file."""

from django.conf import settings
from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api.access import caller
from timemachine.api.requests import body_of
from timemachine.core.pure.errors import InvalidInput
from timemachine.jobs.queue import enqueue
from timemachine.memory.tasks import index_steps
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.growing import import_lines
from timemachine.recording.importing.queries import import_of
from timemachine.recording.importing.schemas import (
    FileImportOut,
    ImportAccepted,
    ImportOut,
    LinesIn,
    LinesOut,
)
from timemachine.recording.importing.worker import hand_in, received
from timemachine.recording.tasks import run_import

router = Router(tags=["import"])
kept = Router(tags=["import"])


@router.post("", response={201: ImportOut, 202: ImportAccepted}, summary="Import a file")
def import_(
    request: HttpRequest,
    format: str | None = None,  # noqa: A002  # the name is the contract's
    filename: str | None = None,
    later: bool = False,
) -> Status[ImportOut | ImportAccepted]:
    """Import the file in the body; the report accounts for every line. `format` is the name of a format, or `auto`.

    If a session was deleted here before, it is imported again, and `deleted_before` says when it was deleted, by whom and why. Steps
    that were deleted stay deleted (`deleted_turns`).

    The body can be compressed with gzip or Zstandard. It can have up to 512 MB, also decompressed.

    With `later`, and always above 64 MB, a worker imports the file: the response is 202 with `import_id`, and
    `GET /api/imports/{import_id}` returns the progress.
    """
    who = caller(request, "record")
    with received(body_of(request)) as data:
        if not data:
            raise InvalidInput(
                "The file is empty. Send the file as the body of the request.", code="empty_file"
            )
        if later or len(data) > settings.MAX_REQUEST_BYTES:
            found = hand_in(who.project, data, by=who.by, format_name=format, filename=filename)
            enqueue(run_import, found.id)
            return Status(202, ImportAccepted.model_construct(import_id=str(found.id)))
        done = import_file(who.project, data, by=who.by, format_name=format, filename=filename)
    enqueue(index_steps, who.project.id)
    return Status(201, ImportOut.of(done))


@router.post("/lines", response={201: LinesOut}, summary="Import lines of a growing file")
def lines_(request: HttpRequest, payload: LinesIn) -> Status[LinesOut]:
    """Record the lines that no later line can change. The result is that of importing the complete file, however it is divided.

    A line is held back as long as the answer that it belongs to may go on, or until the file has not grown for a minute. Formats: `claude_code`,
    `codex`, `gemini_cli`. The same lines can be sent again.
    """
    who = caller(request, "record")
    done = import_lines(
        who.project,
        payload.lines,
        format_name=payload.format,
        by=who.by,
        repeated=payload.repeated,
        position=payload.position,
        idle=payload.idle,
    )
    enqueue(index_steps, who.project.id)
    return Status(201, LinesOut.of(done))


@kept.get("/{import_id}", response=FileImportOut, summary="One import")
def read(request: HttpRequest, import_id: str) -> FileImportOut:
    """The progress of an import that a worker carries out, and its result: `status` is waiting, running, done or failed.

    A session that was deleted since is not listed.
    """
    return FileImportOut.of(import_of(caller(request, "read").project, import_id))
