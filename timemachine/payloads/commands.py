"""Keeping bytes once, and dropping those that nothing refers to any more."""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.db import connection, models
from django.db.models import Exists, OuterRef, Q

from timemachine.base.content import Content
from timemachine.payloads.models import Payload

BATCH = 500


def keep(project_id: UUID, contents: Iterable[Content]) -> dict[Content, int]:
    """The id of each content's row, made where there was none. Call it in the transaction that refers to them."""
    wanted = {(content.sha256, content.media_type): content for content in contents}
    found = _ids(project_id, list(wanted))
    # in one order everywhere: two writers that insert the same passages must not wait for each other in a circle
    missing = [wanted[name] for name in sorted(wanted) if name not in found]
    if missing:
        rows = [_row(project_id, content) for content in missing]
        Payload.objects.bulk_create(rows, ignore_conflicts=True, batch_size=BATCH)
        found |= _ids(project_id, [(content.sha256, content.media_type) for content in missing])
    return {content: found[name] for name, content in wanted.items()}


def drop_unreferenced(project_id: UUID) -> int:
    """Delete the project's payloads that no row refers to. Only inside lawful erasure: elsewhere a trigger refuses it."""
    unreferenced = Payload.objects.filter(project_id=project_id)
    for reference in _references():
        users = reference.model._base_manager.filter(**{reference.name: OuterRef("id")})
        unreferenced = unreferenced.filter(~Exists(users))
    doomed = list(unreferenced.values_list("id", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM tm_payload WHERE id = ANY(%s)", [doomed])
    return len(doomed)


def still_used(payloads: Collection[int]) -> int:
    """How many of these rows something still refers to."""
    used = Q()
    for reference in _references():
        used |= Q(Exists(reference.model._base_manager.filter(**{reference.name: OuterRef("id")})))
    return Payload.objects.filter(used, id__in=list(payloads)).count()


def _references() -> list[models.ForeignKey[Payload, Payload]]:
    fields = Payload._meta.get_fields(include_hidden=True)
    return [field.field for field in fields if isinstance(field, models.ManyToOneRel)]


def _row(project_id: UUID, content: Content) -> Payload:
    return Payload(
        project_id=project_id, sha256=content.sha256, media_type=content.media_type, data=content.data
    )


def _ids(project_id: UUID, names: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
    hashes = [sha256 for sha256, _ in names]
    rows = Payload.objects.filter(project_id=project_id, sha256__in=hashes)
    return {
        (sha256, media_type): row
        for row, sha256, media_type in rows.values_list("id", "sha256", "media_type")
    }
