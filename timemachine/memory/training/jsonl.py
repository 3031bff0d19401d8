"""Training pairs as they are sent: JSON lines, one pair each, while they are read."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Final

from django.http import StreamingHttpResponse

from timemachine.core.accounts.models import Project
from timemachine.core.pure.streams import marked_if_cut_off
from timemachine.memory.training.pure.options import Wanted
from timemachine.memory.training.queries import Report, begin, learned
from timemachine.memory.training.schemas import TrainingReport

FIRST: Final = 5
"""How many pairs a report shows."""


def sent(project: Project, wanted: Wanted) -> StreamingHttpResponse:
    """The answer that streams the pairs, a line each. Raises before it begins where that cannot be asked for."""
    report = begin(project, wanted)
    name = f"training-{wanted.form}-{wanted.what}{'-' if wanted.part else ''}{wanted.part}.jsonl"
    headers = {
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    return StreamingHttpResponse(
        marked_if_cut_off(_lines(project, report)), content_type="application/x-ndjson", headers=headers
    )


def reported(project: Project, wanted: Wanted) -> TrainingReport:
    """What an export contains, and its first pairs; reads only as many sessions with a solution as nobody waits long for."""
    report = begin(project, wanted)
    found = learned(project, report, whole=False)
    first = list(islice(found, FIRST))
    for _ in found:
        pass
    return TrainingReport.of(report, first)


def _lines(project: Project, report: Report) -> Iterator[bytes]:
    for each in learned(project, report):
        line = json.dumps(each.line(report.wanted.form), ensure_ascii=False)
        yield line.encode("utf-8", "replace") + b"\n"
