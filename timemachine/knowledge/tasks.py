"""The jobs of collections: missing vectors, and indexes of large collections."""

from uuid import UUID

from timemachine.core.jobs import Next, job
from timemachine.core.pure.queue_names import INDEXING
from timemachine.knowledge import embedding_backlog, hnsw
from timemachine.knowledge.models import Collection


@job(
    of=Collection,
    queue=INDEXING,
    overdue=embedding_backlog.overdue,
    key="collection_id",
    at_start=True,
    only_if=embedding_backlog.is_due,
)
def embed_backlog(collection_id: UUID) -> Next:
    """Create vectors that a collection lacks, for a while; then let other jobs run."""
    return [(embed_backlog, collection_id)] if embedding_backlog.embed_missing(collection_id) else []


@job(of=Collection, queue=INDEXING, overdue=hnsw.collections_without_index)
def index_collection(collection_id: UUID) -> None:
    """Build the index for semantic search in a large collection."""
    hnsw.build_for(collection_id)
