"""The embedding model of a collection over HTTP: how far it is, and giving it another."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import schemas
from timemachine.api.access import caller
from timemachine.core.pure.clock import written
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.models import Collection
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.reembedding import Progress, Refused, progress, reembed
from timemachine.knowledge.tasks import embed_backlog

router = Router(tags=["collections"])


@router.get("/{name}/embedding", summary="How far a collection is embedded")
def read(request: HttpRequest, name: str) -> dict[str, Any]:
    """The collection's embedding model, how many of its frames (every version counted) have been embedded, and what is to replace it."""
    collection = collection_of(caller(request, "read").project, name)
    return progress_json(collection, progress(collection))


@router.post("/{name}/embedding", response={202: dict[str, Any]}, summary="Re-embed a collection")
def change(request: HttpRequest, name: str, payload: schemas.EmbeddingIn) -> Status[dict[str, Any]]:
    """Embed the collection with another model in the background: `wordllama`, `minilm` or `server:MODEL`.

    It is searched with its own model until the other has seen every frame; then that one is its own. The vectors of before stay.
    What a model's server refuses holds up nothing: `refused` says how many frames, the latest one and why; asking again tries them again.
    """
    who = caller(request, "admin")
    collection = collection_of(who.project, name)
    asked = reembed(collection, payload.model, by=who.by)
    enqueue(embed_backlog, collection.id)
    return Status(202, progress_json(collection, asked))


def progress_json(collection: Collection, found: Progress) -> dict[str, Any]:
    """How far a collection is embedded."""
    target, trouble = found.target, found.trouble
    return {
        "collection": collection.name,
        "embedding_model": found.model,
        "frames": found.frames,
        "embedded": found.embedded,
        "refused": _refused_json(found.refused),
        "target": target
        and {
            "embedding_model": target.model,
            "embedded": target.embedded,
            "refused": _refused_json(target.refused),
            "requested_by": target.requested_by,
            "requested_at": written(target.requested_at),
        },
        "trouble": trouble
        and {"code": trouble.code, "message": trouble.message, "again_at": written(trouble.again_at)},
    }


def _refused_json(found: Refused | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"count": found.count, "frame": found.frame, "reason": found.reason}
