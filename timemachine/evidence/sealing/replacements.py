"""Where a project's log says that a key was replaced, under a state that this key signed: who knows the earlier fingerprint finds today's."""

import json
from collections.abc import Collection, Iterator
from uuid import UUID

from django.db.models import BinaryField, F, Func, IntegerField, Value

from timemachine.evidence.log.project_log import KEY
from timemachine.evidence.models import LogCheckpoint, LogEntry, SigningKey


def replacements(project: UUID, keys: Collection[int]) -> Iterator[tuple[LogCheckpoint, int]]:
    """From the earliest of these keys that was replaced on to the one in use: a state of the log that the replaced key signed, and the entry
    that names the next one. A key that could not be read any more signed none. A query where none of them was replaced, else three for each.
    """
    earliest = (
        SigningKey.objects.filter(pk__in=keys, replaced_at__isnull=False).order_by("replaced_at").first()
    )
    if earliest is None:
        return
    replaced = SigningKey.objects.filter(project=project, replaced_at__gte=earliest.replaced_at)
    for key in replaced.order_by("replaced_at"):
        index = _entry_that_replaces(project, key.fingerprint)
        if index is None:
            continue
        states = LogCheckpoint.objects.filter(project=project, key=key, size__gt=index)
        if state := states.order_by("size", "id").first():
            yield state, index


def _entry_that_replaces(project: UUID, fingerprint: str) -> int | None:
    said = Func(
        Value(f'"replaces":"{fingerprint}"'.encode(), output_field=BinaryField()),
        F("entry"),
        template="position(%(expressions)s)",
        arg_joiner=" IN ",
        output_field=IntegerField(),
    )
    found = LogEntry.objects.filter(project=project).alias(said=said).filter(said__gt=0).order_by("index")
    return next((each.index for each in found if json.loads(bytes(each.entry))["entry"] == KEY), None)
