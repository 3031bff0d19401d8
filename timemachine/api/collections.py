"""Collections over HTTP: make, list, put, find, ask, and every version of a frame."""

from typing import Any, Final

from django.db import transaction
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router, Status

from timemachine.api import paging, schemas, sizes
from timemachine.api.access import caller
from timemachine.api.asks import ANSWERS, asked
from timemachine.api.documents import collection_json, frame_json, place_json, used_by_json
from timemachine.api.paging import checked_limit, page, sized_page
from timemachine.api.paging import read as read_place
from timemachine.jobs.queue import enqueue
from timemachine.knowledge import commands
from timemachine.knowledge.queries import collection_of, collections_of, frames_at, versions_of
from timemachine.knowledge.sources import places_of
from timemachine.knowledge.tasks import embed_backlog
from timemachine.recording.answering import commands as answering
from timemachine.recording.answering.schemas import AskIn, AskOut, FindIn, FindOut, PutIn, PutOut
from timemachine.recording.sessions.frame_usage import usage_of
from timemachine.recording.sessions.moments import moment

router = Router(tags=["collections"])

SHOWN_FILES: Final = 200


@router.post("", response={201: dict[str, Any]}, summary="Make a collection")
def make(request: HttpRequest, payload: schemas.CollectionIn) -> Status[dict[str, Any]]:
    """A new, empty collection."""
    who = caller(request, "record")
    return Status(201, collection_json(commands.make_collection(who.project, payload.name, by=who.by)))


@router.get("", summary="List collections")
def index(request: HttpRequest, limit: int = 50, after: str | None = None) -> dict[str, Any]:
    """The project's collections by name."""
    found = collections_of(caller(request, "read").project)
    if after is not None:
        found = found.filter(name__gt=read_place(after, paging.name))
    return page(list(found[: checked_limit(limit) + 1]), limit, lambda each: [each.name], collection_json)


@router.get("/{name}", summary="One collection")
def read(request: HttpRequest, name: str) -> dict[str, Any]:
    """A collection by its name."""
    project = caller(request, "read").project
    return collection_json(collections_of(project).get(id=collection_of(project, name).id))


@router.get("/{name}/frames", summary="List frames")
def frames(
    request: HttpRequest, name: str, as_of: str | None = None, limit: int = 50, after: str | None = None
) -> dict[str, Any]:
    """The collection's frames by number, now or as of a moment."""
    project = caller(request, "read").project
    found = frames_at(collection_of(project, name), moment(project, as_of))
    if after is not None:
        found = found.filter(number__gt=read_place(after, paging.number))
    return sized_page(found, limit, "number", sizes.of_frame(), frame_json)


@router.get("/{name}/frames/{number}", summary="Every version of a frame")
def frame(
    request: HttpRequest, name: str, number: int, limit: int = 50, after: str | None = None
) -> dict[str, Any]:
    """A frame with the versions it had, the first one first, in pages: `next` is null on the last.

    `source` is the file that a version came with. `files` are all that have any version, newest first; they and `used_by` are the
    same on every page.
    """
    versions = versions_of(collection_of(caller(request, "read").project, name), number)
    ids = list(versions.values_list("id", flat=True))
    used_by = usage_of(ids)
    if after is not None:
        versions = versions.filter(version__gt=read_place(after, paging.number))
    shown = sized_page(versions, limit, "version", sizes.of_frame(), frame_json)
    return {
        "frame": number,
        "versions": shown["items"],
        "next": shown["next"],
        "files": [place_json(each) for each in places_of(ids)[:SHOWN_FILES]],
        "used_by": used_by_json(used_by),
    }


@router.delete("/{name}/frames/{number}", summary="Delete a frame")
def delete(request: HttpRequest, name: str, number: int) -> dict[str, Any]:
    """End a frame's current version; its history stays."""
    who = caller(request, "record")
    ended = commands.delete(collection_of(who.project, name), number, by=who.by)
    ended.refresh_from_db()
    return frame_json(ended)


@router.post("/{name}/put", response={201: PutOut}, summary="Put")
def put(request: HttpRequest, name: str, payload: PutIn) -> Status[PutOut]:
    """Put passages into a collection, which is created if there is none of that name."""
    who = caller(request, "record")
    with transaction.atomic():  # a put that is refused creates no collection
        collection = commands.collection_named(who.project, name, by=who.by)
        done = answering.put(collection, payload.new_frames(), by=who.by)
    enqueue(embed_backlog, collection.id)
    return Status(201, PutOut.of(done))


@router.post("/{name}/find", response=FindOut, summary="Find", exclude_unset=True)
def find(request: HttpRequest, name: str, payload: FindIn) -> FindOut:
    """Find passages; nothing is recorded."""
    project = caller(request, "read").project
    return FindOut.of(answering.find(collection_of(project, name), payload.in_project(project)))


@router.post("/{name}/ask", response=AskOut, summary="Ask", openapi_extra=ANSWERS, exclude_unset=True)
def ask(request: HttpRequest, name: str, payload: AskIn) -> AskOut | StreamingHttpResponse:
    """Find passages and ask a model over them; nothing is recorded. It streams as an ask in a session does."""
    project = caller(request, "run").project
    collection, query = collection_of(project, name), payload.in_project(project)

    def make(audience: answering.Audience) -> answering.AskDone:
        return answering.ask(
            project,
            collection,
            query,
            use_model=payload.use_model,
            parameters=payload.parameters(),
            no_cache=payload.no_cache,
            audience=audience,
        )

    return asked(request, project, payload, make)
