"""Stream training pairs as JSON lines."""

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
    """Return the response that streams the pairs, one per line. Raises errors in the options before it begins."""
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
    """Return what an export contains, and its first pairs. Reads only a limited number of sessions with a
    solution.
    """
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
