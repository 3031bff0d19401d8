"""Lawful erasure of a whole collection: its frames with their history, its files, and the texts that nothing else uses."""

from django.db import connection, transaction

from timemachine.core.payloads.commands import drop_unreferenced, payloads_of
from timemachine.core.pure.errors import Conflict
from timemachine.knowledge import hnsw
from timemachine.knowledge.collection_time import hold_for_change
from timemachine.knowledge.models import Collection, Frame, FrameEmbedding


@transaction.atomic
def erase_collection(collection: Collection) -> int:
    """Remove a collection and every version of its frames; returns how many versions there were.

    What sessions froze of its passages stays with them. Raises `Conflict` where a session still names the collection.
    """
    Collection.objects.select_for_update().get(id=collection.id)
    hold_for_change(collection.id)
    held = payloads_of(collection)
    frames = Frame.objects.filter(collection=collection)
    versions = frames.count()
    if _is_named(collection):
        raise Conflict(
            f"Sessions name the collection {collection.name}; delete them first.", code="collection_in_use"
        )
    for model in (
        FrameEmbedding.objects.filter(collection=collection).values_list("model", flat=True).distinct()
    ):
        hnsw.drop(collection.id, model)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'on'")
        cursor.execute("DELETE FROM tm_frame WHERE collection_id = %s", [collection.id])
        cursor.execute("DELETE FROM tm_source WHERE collection_id = %s", [collection.id])
        cursor.execute("DELETE FROM tm_collection WHERE id = %s", [collection.id])
        drop_unreferenced(held)
        cursor.execute("SET LOCAL timemachine.erasing = 'off'")
    return versions


def _is_named(collection: Collection) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM tm_session WHERE collection_id = %s)", [collection.id])
        row = cursor.fetchone()
    return bool(row and row[0])
