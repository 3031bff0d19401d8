"""Files over HTTP: put one into a collection, follow one that a worker puts, and list the files of a collection."""

from typing import Final

from django.conf import settings
from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging
from timemachine.api.access import Caller, caller
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import get_or_create_collection
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.schemas.collections import SourceFrame, SourceFrames, SourceListed, SourcePage
from timemachine.knowledge.sources import passages_of, source_of, sources_of
from timemachine.knowledge.tasks import embed_backlog
from timemachine.recording.intake.commands import check, take
from timemachine.recording.intake.preparing import HandedIn
from timemachine.recording.intake.queries import intake_of
from timemachine.recording.intake.schemas import FilePutOut, IntakeAccepted, IntakeOut
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.tasks import run_intake

router = Router(tags=["collections"])
intakes = Router(tags=["collections"])

FIELDS: Final = ("file", "title", "uri", "replace", "session")
YES, NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")
_FORM: Final[JsonObject] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "title": {"type": "string"},
                        "uri": {"type": "string"},
                        "replace": {"type": "boolean", "default": False},
                        "session": {"type": "string"},
                    },
                }
            }
        },
    }
}


@router.post(
    "/{name}/files",
    response={201: FilePutOut, 202: IntakeAccepted},
    summary="Put a file",
    openapi_extra=_FORM,
)
def put_file(request: HttpRequest, name: str) -> Status[FilePutOut | IntakeAccepted]:
    """Put the passages of a text, Markdown, HTML, PDF or JSONL file into a collection. The collection is created if it does not exist.

    A small file is put immediately (201, with the result for each passage). A worker puts a PDF, a file over 256 KB, and a file whose `uri`
    an earlier unfinished file has (202 with `intake_id`; follow it at /api/intakes/{id}): files with the same `uri` are put in the order
    in which they came.

    `replace` ends the passages of the same `uri` that this file does not have. Without it, `edited_frames` names each passage that was
    edited by hand and whose old text this file adds again, in the frame `beside`.
    """
    who = caller(request, "record")
    file, session = _sent(request, who)
    check(file)
    taken = take(
        [file], lambda: get_or_create_collection(who.project, name, by=who.by), by=who.by, session=session
    )
    if taken.done:
        enqueue(embed_backlog, taken.collection.id)
    enqueue(run_intake, *(each.id for each in taken.intakes))
    if taken.done:
        return Status(201, FilePutOut.of(taken.done[0]))
    return Status(202, IntakeAccepted.model_construct(intake_id=str(taken.intakes[0].id)))


@router.get("/{name}/sources", response=SourcePage, summary="List files")
def sources(
    request: HttpRequest, name: str, limit: int = paging.DEFAULT, after: str | None = None
) -> SourcePage:
    """The files whose passages were put into the collection, newest first.

    `frames` is how many frames of a file are current, `edited` how many more were edited by hand since.
    """
    found = sources_of(collection_of(caller(request, "read").project, name)).select_related("collection")
    rows, following = paging.ordered_rows(found, limit, after)
    return SourcePage.model_construct(items=[SourceListed.of_row(each) for each in rows], next=following)


@router.get("/{name}/sources/{source_id}/frames", response=SourceFrames, summary="The frames of a file")
def source_frames(
    request: HttpRequest, name: str, source_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> SourceFrames:
    """The current frames that are passages of the file, in the order in which they were put; the text of each is at /frames/{number}."""
    found = passages_of(source_of(caller(request, "read").project, name, source_id))
    rows, following = paging.ordered_rows(found, limit, after, "id", paging.number)
    return SourceFrames.model_construct(items=[SourceFrame.of(each) for each in rows], next=following)


@intakes.get("/{intake_id}", response=IntakeOut, summary="One intake")
def read_intake(request: HttpRequest, intake_id: str) -> IntakeOut:
    """A file that a worker puts into a collection: `status` is waiting, running, done or failed, and `report` is the result."""
    return IntakeOut.of(intake_of(caller(request, "read").project, intake_id))


def _sent(request: HttpRequest, who: Caller) -> tuple[HandedIn, Session | None]:
    """Return the file and the session of the form. Raises `TooLarge` before anything is read, `InvalidInput`, `NotFound`."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > settings.MAX_REQUEST_BYTES:
        raise TooLarge(
            f"A request can have at most {settings.MAX_REQUEST_BYTES:,} bytes. Split the file.",
            limit=settings.MAX_REQUEST_BYTES,
        )
    unknown = sorted({*request.POST, *request.FILES} - set(FIELDS))
    if unknown:
        raise InvalidInput(
            f"There is no field `{unknown[0]}`. Leave it out.", code="invalid_request", fields=unknown
        )
    files = request.FILES.getlist("file")
    if len(files) != 1:
        raise InvalidInput(
            "Send one file in the field `file`, as multipart/form-data.", code="invalid_request", field="file"
        )
    form = request.POST
    file = HandedIn(
        name=files[0].name or "",
        data=files[0].read(),
        title=form.get("title", ""),
        uri=form.get("uri", ""),
        replace=_flag(form.get("replace", "")),
    )
    named = form.get("session", "")
    return file, session_of(who.project, named) if named else None


def _flag(written: str) -> bool:
    if written.lower() not in (*YES, *NO):
        raise InvalidInput("`replace` must be `true` or `false`.", code="invalid_field", field="replace")
    return written.lower() in YES
