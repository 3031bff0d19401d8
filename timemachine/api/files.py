"""Files put into a collection over HTTP, and the files of a collection."""

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging
from timemachine.api.access import Caller, caller
from timemachine.api.documents import source_json
from timemachine.api.paging import checked_limit, page
from timemachine.api.paging import read as read_place
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput, NotFound, TooLarge
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import collection_named
from timemachine.knowledge.models import Source, SourcePassage
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.replacing import MOST_NAMED
from timemachine.knowledge.sources import passages_of, source_of, sources_of
from timemachine.knowledge.tasks import embed_backlog
from timemachine.recording.intake.commands import FilePut, check
from timemachine.recording.intake.preparing import HandedIn
from timemachine.recording.intake.receive import take
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.tasks import run_intake

router = Router(tags=["collections"])

FIELDS: Final = ("file", "title", "uri", "replace", "session")
YES, NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")
_FORM: Final[dict[str, Any]] = {
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
    response={201: dict[str, Any], 202: dict[str, Any]},
    summary="Put a file",
    openapi_extra=_FORM,
)
def put_file(request: HttpRequest, name: str) -> Status[dict[str, Any]]:
    """Put the passages of a text, Markdown, HTML, PDF or JSONL file into a collection, which is made where there is none.

    A small one is put at once (201, with what became of each passage). A PDF or one over 256 KB is kept and put in the background
    (202, `intake_id`: follow it at /api/intakes/{id}), and so is one whose `uri` an earlier file that is still on its way has: they
    are put in the order in which they came. `replace` ends the passages of the same `uri` that this file does not have; without it, a passage that
    was edited by hand is named in `edited_frames` where its old text now stands `beside` it.
    """
    who = caller(request, "record")
    file, session = _sent(request, who)
    check(file)
    taken = take([file], lambda: collection_named(who.project, name, by=who.by), by=who.by, session=session)
    if taken.done:
        enqueue(embed_backlog, taken.collection.id)
    enqueue(run_intake, *(each.id for each in taken.intakes))
    if taken.done:
        return Status(201, file_json(taken.done[0]))
    return Status(202, {"intake_id": str(taken.intakes[0].id)})


@router.get("/{name}/sources", summary="List files")
def sources(request: HttpRequest, name: str, limit: int = 50, after: str | None = None) -> dict[str, Any]:
    """The files whose passages were put into the collection, newest first, each with how many of its frames are current, and how many
    more were `edited` by hand since."""
    found = sources_of(collection_of(caller(request, "read").project, name)).select_related("collection")
    if after is not None:
        found = found.filter(id__lt=read_place(after, paging.identity))
    rows = list(found[: checked_limit(limit) + 1])
    return page(
        rows,
        limit,
        lambda each: [str(each.id)],
        _listed,
    )


@router.get("/{name}/sources/{source_id}/frames", summary="The frames of a file")
def source_frames(
    request: HttpRequest, name: str, source_id: str, limit: int = 50, after: str | None = None
) -> dict[str, Any]:
    """The current frames that are passages of the file, in the order in which they were put; each frame's text is at /frames/{number}."""
    found = passages_of(_source(caller(request, "read").project, name, source_id))
    if after is not None:
        found = found.filter(id__gt=read_place(after, paging.number))
    rows = list(found[: checked_limit(limit) + 1])
    return page(rows, limit, lambda each: [each.id], _passage)


def _source(project: Project, name: str, source_id: str) -> Source:
    found = source_of(project, source_id)
    if found.collection_id != collection_of(project, name).id:
        raise NotFound("There is no such file in this collection.", code="source_not_found")
    return found


def _passage(place: SourcePassage) -> dict[str, Any]:
    frame = place.frame
    return {
        "frame": frame.number,
        "version": frame.version,
        "sha256": frame.sha256,
        "title": frame.title,
        "start": place.start,
        "end": place.end,
        "page": frame.metadata.get("page"),
    }


def _listed(source: Source) -> dict[str, Any]:
    counts = {"frames": getattr(source, "frame_count", None), "edited": getattr(source, "edited_count", None)}
    return source_json(source) | counts


def file_json(done: FilePut) -> dict[str, Any]:
    """What putting a file came to, passage by passage."""
    frames = [
        {
            "frame": put.frame.number,
            "version": put.frame.version,
            "sha256": put.frame.sha256,
            "title": put.frame.title,
            "already_there": put.already_there,
            "start": None if frame.origin is None else frame.origin.start,
            "end": None if frame.origin is None else frame.origin.end,
            "page": frame.metadata.get("page") if frame.origin is not None else None,
        }
        for frame, put in zip(done.frames, done.puts, strict=True)
    ]
    there = len(frames) - done.new
    return {
        "frames": frames,
        "sequences": done.sequences,
        "source": None if done.source is None else source_json(done.source),
        "report": {
            "new": done.new,
            "already_there": there,
            "ended": done.ended,
            "ended_frames": [each.as_json() for each in done.ended_frames],
            "edited": len(done.edited),
            "edited_frames": [each.as_json() for each in done.edited[:MOST_NAMED]],
            "skipped": [],
        },
    }


def _sent(request: HttpRequest, who: Caller) -> tuple[HandedIn, Session | None]:
    """The file and the session of the form. Raises `TooLarge` before anything is read, `InvalidInput`, `NotFound`."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > settings.MAX_REQUEST_BYTES:
        raise TooLarge(
            f"A request holds at most {settings.MAX_REQUEST_BYTES:,} bytes; split the file.",
            limit=settings.MAX_REQUEST_BYTES,
        )
    unknown = sorted({*request.POST, *request.FILES} - set(FIELDS))
    if unknown:
        raise InvalidInput(
            f"There is no field `{unknown[0]}`; leave it out.", code="invalid_request", fields=unknown
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
        raise InvalidInput("`replace` is `true` or `false`.", code="invalid_field", field="replace")
    return written.lower() in YES
