"""What those outside said of a log's states, in its bundle: cosignatures as they were given, timestamps with what they are of.

log/witnessed.jsonl        a line for each state that a witness took: what it was sent, and its answer, verbatim
timestamps/N.tsr           the authority's answer (RFC 3161), for
timestamps/N.json          the signed state of N entries, byte for byte
"""

import json
from typing import Any

from timemachine.accounts.models import Project
from timemachine.base.clock import written
from timemachine.evidence.models import TIMESTAMP, WITNESS, Anchored
from timemachine.evidence.zipped import Zipped


def write(zipped: Zipped, project: Project, size: int) -> None:
    """Write what there is of states up to that size."""
    found = Anchored.objects.filter(checkpoint__project=project, checkpoint__size__lte=size)
    rows = found.select_related("checkpoint").order_by("checkpoint__size", "id")
    with zipped.file("log/witnessed.jsonl") as file:
        file.lines(json.dumps(_witnessed(each)).encode() for each in rows.filter(kind=WITNESS))
    dated = {each.checkpoint.size: each for each in rows.filter(kind=TIMESTAMP)}
    for entries, each in dated.items():
        zipped.add(f"timestamps/{entries}.json", each.checkpoint.signed.encode())
        zipped.add(f"timestamps/{entries}.tsr", bytes(each.answer))


def _witnessed(anchored: Anchored) -> dict[str, Any]:
    return {
        "size": anchored.checkpoint.size,
        "root": bytes(anchored.checkpoint.root).hex(),
        "at": written(anchored.at),
        "url": anchored.url,
        "sent": bytes(anchored.sent).decode("utf-8"),
        "answer": bytes(anchored.answer).decode("utf-8", "backslashreplace"),
    }
