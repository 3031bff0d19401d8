"""The jobs of collections: vectors that are missing, and indexes of large collections."""

from uuid import UUID

from timemachine.core.jobs import Next, job
from timemachine.knowledge import embedding_backlog, hnsw


@job(
    overdue=embedding_backlog.overdue,
    key="collection_id",
    at_start=True,
    only_if=embedding_backlog.is_due,
)
def embed_backlog(collection_id: UUID) -> Next:
    """Make vectors that a collection lacks, for a while; then other jobs have their turn."""
    return [(embed_backlog, collection_id)] if embedding_backlog.work_off(collection_id) else []


@job(overdue=hnsw.due)
def index_collection(collection_id: UUID) -> None:
    """Build the index for searching a large collection by meaning."""
    hnsw.build_for(collection_id)
