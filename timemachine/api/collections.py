"""Collections over HTTP: create, list, put, find, ask, the versions of a frame, and the embedding model."""

from typing import Final

from django.db import transaction
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router, Status

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.api.asks import ANSWERS, ask_response
from timemachine.jobs.queue import enqueue
from timemachine.knowledge import commands
from timemachine.knowledge.queries import collection_of, collections_of, frames_at, versions_of
from timemachine.knowledge.reembedding import embedding_progress, reembed
from timemachine.knowledge.schemas.collections import (
    CollectionIn,
    CollectionOut,
    CollectionPage,
    FrameOut,
    FramePage,
    FramePlace,
)
from timemachine.knowledge.schemas.embedding import EmbeddingIn, EmbeddingOut
from timemachine.knowledge.sources import places_of
from timemachine.knowledge.tasks import embed_backlog
from timemachine.recording.answering import commands as answering
from timemachine.recording.answering.schemas import AskIn, AskOut, FindIn, FindOut, PutIn, PutOut
from timemachine.recording.sessions.frames import frame_usage
from timemachine.recording.sessions.payload_sizes import size_of_payloads
from timemachine.recording.sessions.queries import resolve_moment
from timemachine.recording.sessions.schemas import FrameUsage, FrameVersions

router = Router(tags=["collections"])

SHOWN_FILES: Final = 200


@router.post("", response={201: CollectionOut}, summary="Create a collection")
def make(request: HttpRequest, payload: CollectionIn) -> Status[CollectionOut]:
    """Create an empty collection."""
    who = caller(request, "record")
    return Status(201, CollectionOut.of(commands.create_collection(who.project, payload.name, by=who.by)))


@router.get("", response=CollectionPage, summary="List collections")
def index(request: HttpRequest, limit: int = paging.DEFAULT, after: str | None = None) -> CollectionPage:
    """The project's collections by name."""
    found = collections_of(caller(request, "read").project)
    rows, following = paging.ordered_rows(found, limit, after, "name", paging.name)
    return CollectionPage.model_construct(items=[CollectionOut.of(each) for each in rows], next=following)


@router.get("/{name}", response=CollectionOut, summary="One collection")
def read(request: HttpRequest, name: str) -> CollectionOut:
    """A collection by its name."""
    project = caller(request, "read").project
    return CollectionOut.of(collections_of(project).get(id=collection_of(project, name).id))


@router.get("/{name}/frames", response=FramePage, summary="List frames")
def frames(
    request: HttpRequest, name: str, as_of: str | None = None, limit: int = 50, after: str | None = None
) -> FramePage:
    """The collection's frames by number, now or as of a given time."""
    project = caller(request, "read").project
    found = frames_at(collection_of(project, name), resolve_moment(project, as_of))
    rows, following = paging.sized_rows(found, limit, after, "number", size_of_payloads("payload"))
    return FramePage.model_construct(items=[FrameOut.of(each) for each in rows], next=following)


@router.get("/{name}/frames/{number}", response=FrameVersions, summary="Every version of a frame")
def frame(
    request: HttpRequest, name: str, number: int, limit: int = paging.DEFAULT, after: str | None = None
) -> FrameVersions:
    """The versions of a frame, the first one first, in pages: `next` is null on the last.

    `source` is the file that a version came with. `files` are all that have any version, newest first; they and `used_by` are the
    same on every page.
    """
    versions = versions_of(collection_of(caller(request, "read").project, name), number)
    ids = list(versions.values_list("id", flat=True))
    used_by = frame_usage(ids)
    rows, following = paging.sized_rows(versions, limit, after, "version", size_of_payloads("payload"))
    return FrameVersions.model_construct(
        frame=number,
        versions=[FrameOut.of(each) for each in rows],
        next=following,
        files=[FramePlace.of(each) for each in places_of(ids)[:SHOWN_FILES]],
        used_by=FrameUsage.of(used_by),
    )


@router.delete("/{name}/frames/{number}", response=FrameOut, summary="Delete a frame")
def delete(request: HttpRequest, name: str, number: int) -> FrameOut:
    """End a frame's current version; its history stays."""
    who = caller(request, "record")
    ended = commands.delete_frame(collection_of(who.project, name), number, by=who.by)
    ended.refresh_from_db()
    return FrameOut.of(ended)


@router.post("/{name}/put", response={201: PutOut}, summary="Put")
def put(request: HttpRequest, name: str, payload: PutIn) -> Status[PutOut]:
    """Put passages into a collection. The collection is created if it does not exist."""
    who = caller(request, "record")
    with transaction.atomic():  # a put that is refused creates no collection
        collection = commands.get_or_create_collection(who.project, name, by=who.by)
        done = answering.put(collection, payload.new_frames(), by=who.by)
    enqueue(embed_backlog, collection.id)
    return Status(201, PutOut.of(done))


@router.post("/{name}/find", response=FindOut, summary="Find", exclude_unset=True)
def find(request: HttpRequest, name: str, payload: FindIn) -> FindOut:
    """Find passages; nothing is recorded."""
    project = caller(request, "read").project
    collection, query = collection_of(project, name), payload.in_project(project, payload.query)
    return FindOut.of(answering.find(collection, query))


@router.post("/{name}/ask", response=AskOut, summary="Ask", openapi_extra=ANSWERS, exclude_unset=True)
def ask(request: HttpRequest, name: str, payload: AskIn) -> AskOut | StreamingHttpResponse:
    """Find passages and ask a model over them. Nothing is recorded. It streams like an ask in a session."""
    project = caller(request, "run").project
    collection, query = collection_of(project, name), payload.in_project(project, payload.question)

    def make(audience: answering.AskObserver) -> answering.AskDone:
        return answering.ask(
            project,
            collection,
            query,
            use_model=payload.use_model,
            parameters=payload.parameters(),
            no_cache=payload.no_cache,
            observer=audience,
        )

    return ask_response(request, project, payload, make)


@router.get("/{name}/embedding", response=EmbeddingOut, summary="Embedding progress of a collection")
def embedding(request: HttpRequest, name: str) -> EmbeddingOut:
    """The collection's embedding model, how many of its frames (every version counts) are embedded, and the model that is to replace it."""
    collection = collection_of(caller(request, "read").project, name)
    return EmbeddingOut.of(collection, embedding_progress(collection))


@router.post("/{name}/embedding", response={202: EmbeddingOut}, summary="Re-embed a collection")
def re_embed(request: HttpRequest, name: str, payload: EmbeddingIn) -> Status[EmbeddingOut]:
    """Embed the collection with another model in the background: `wordllama`, `minilm` or `server:MODEL`.

    Searches use the current model until the new one has embedded every frame; the old vectors stay. Frames that a model's server refuses
    do not hold up the others: `refused` says how many there are, and the latest one and why. Request the same model again to retry them.
    """
    who = caller(request, "admin")
    collection = collection_of(who.project, name)
    replacement = reembed(collection, payload.model, by=who.by)
    enqueue(embed_backlog, collection.id)
    return Status(202, EmbeddingOut.of(collection, replacement))
