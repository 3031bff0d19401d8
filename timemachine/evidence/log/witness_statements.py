"""Witnesses' cosignatures and authorities' timestamps in bundles.

log/witnessed.jsonl        a line for each state that a witness took: what it was sent, and its answer, verbatim
timestamps/N.tsr           the authority's answer (RFC 3161), for
timestamps/N.json          the signed state of N entries, byte for byte
"""

import json
from collections.abc import Mapping
from uuid import UUID

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.core.pure.json_types import JsonObject
from timemachine.evidence.models import TIMESTAMP, WITNESS, AnchorReceipt, LogCheckpoint
from timemachine.evidence.pure.deterministic_zip import Zipped


def write(zipped: Zipped, project: Project, size: int) -> None:
    """Write the receipts for log states up to that size."""
    found = AnchorReceipt.objects.filter(checkpoint__project=project, checkpoint__size__lte=size)
    rows = found.select_related("checkpoint").order_by("checkpoint__size", "id")
    with zipped.file("log/witnessed.jsonl") as file:
        file.lines(json.dumps(_receipt_line(each)).encode() for each in rows.filter(kind=WITNESS))
    write_dated(zipped, {each.checkpoint.size: each for each in rows.filter(kind=TIMESTAMP)})


def write_dated(zipped: Zipped, dated: Mapping[int, AnchorReceipt]) -> None:
    """Write the timestamps, each next to the state that it covers."""
    for entries, each in sorted(dated.items()):
        zipped.add(f"timestamps/{entries}.json", each.checkpoint.signed.encode())
        zipped.add(f"timestamps/{entries}.tsr", bytes(each.answer))


def first_state_with(project: UUID, index: int, dated: dict[int, AnchorReceipt]) -> LogCheckpoint:
    """Return the first timestamped log state that includes an entry; without one, the first signed state.

    Its timestamp is added to `dated`.
    """
    stamps = AnchorReceipt.objects.filter(
        kind=TIMESTAMP, checkpoint__project=project, checkpoint__size__gt=index
    )
    stamp = stamps.select_related("checkpoint").order_by("checkpoint__size", "id").first()
    if stamp is not None:
        dated[stamp.checkpoint.size] = stamp
        return stamp.checkpoint
    signed = LogCheckpoint.objects.filter(project=project, size__gt=index).order_by("size", "id").first()
    if signed is None:
        raise LookupError(f"the log of {project} has no checkpoint after entry {index}")
    return signed


def _receipt_line(anchored: AnchorReceipt) -> JsonObject:
    return {
        "size": anchored.checkpoint.size,
        "root": bytes(anchored.checkpoint.root).hex(),
        "at": written(anchored.at),
        "url": anchored.url,
        "sent": bytes(anchored.sent).decode("utf-8"),
        "answer": bytes(anchored.answer).decode("utf-8", "backslashreplace"),
    }
