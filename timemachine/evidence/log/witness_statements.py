"""What those outside said of a log's states, in bundles: cosignatures as they were given, timestamps with what they are of.

log/witnessed.jsonl        a line for each state that a witness took: what it was sent, and its answer, verbatim
timestamps/N.tsr           the authority's answer (RFC 3161), for
timestamps/N.json          the signed state of N entries, byte for byte
"""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.evidence.models import TIMESTAMP, WITNESS, Anchored, LogCheckpoint
from timemachine.evidence.pure.deterministic_zip import Zipped


def write(zipped: Zipped, project: Project, size: int) -> None:
    """Write what there is of states up to that size."""
    found = Anchored.objects.filter(checkpoint__project=project, checkpoint__size__lte=size)
    rows = found.select_related("checkpoint").order_by("checkpoint__size", "id")
    with zipped.file("log/witnessed.jsonl") as file:
        file.lines(json.dumps(_witnessed(each)).encode() for each in rows.filter(kind=WITNESS))
    write_dated(zipped, {each.checkpoint.size: each for each in rows.filter(kind=TIMESTAMP)})


def write_dated(zipped: Zipped, dated: Mapping[int, Anchored]) -> None:
    """Write the timestamps of these states, each beside what it is of."""
    for entries, each in sorted(dated.items()):
        zipped.add(f"timestamps/{entries}.json", each.checkpoint.signed.encode())
        zipped.add(f"timestamps/{entries}.tsr", bytes(each.answer))


def state_behind(project: UUID, index: int, dated: dict[int, Anchored]) -> LogCheckpoint:
    """The log's first signed state that has that entry and an authority's date, which is put into `dated`; the first that has it where none is dated."""
    stamps = Anchored.objects.filter(kind=TIMESTAMP, checkpoint__project=project, checkpoint__size__gt=index)
    stamp = stamps.select_related("checkpoint").order_by("checkpoint__size", "id").first()
    if stamp is not None:
        dated[stamp.checkpoint.size] = stamp
        return stamp.checkpoint
    signed = LogCheckpoint.objects.filter(project=project, size__gt=index).order_by("size", "id").first()
    if signed is None:
        raise LookupError(f"the log of {project} has no checkpoint behind entry {index}")
    return signed


def _witnessed(anchored: Anchored) -> dict[str, Any]:
    return {
        "size": anchored.checkpoint.size,
        "root": bytes(anchored.checkpoint.root).hex(),
        "at": written(anchored.at),
        "url": anchored.url,
        "sent": bytes(anchored.sent).decode("utf-8"),
        "answer": bytes(anchored.answer).decode("utf-8", "backslashreplace"),
    }
