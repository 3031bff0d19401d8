"""Stream training pairs as JSON lines."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Final

from django.http import StreamingHttpResponse

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.pure.streams import marked_if_cut_off
from timemachine.memory.training.pure.options import ExportOptions
from timemachine.memory.training.queries import Report, empty_report, pairs_of_sessions
from timemachine.memory.training.schemas import TrainingReport

FIRST: Final = 5
"""How many pairs a report shows."""


def streamed_pairs(project: Project, options: ExportOptions) -> StreamingHttpResponse:
    """Return the response that streams the pairs, one per line. Raises errors in the options before it begins."""
    report = empty_report(project, options)
    record(project, "training.exported", form=options.form, what=options.what)
    name = f"training-{options.form}-{options.what}{'-' if options.part else ''}{options.part}.jsonl"
    headers = {
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    return StreamingHttpResponse(
        marked_if_cut_off(_lines(project, report)), content_type="application/x-ndjson", headers=headers
    )


def report_of(project: Project, options: ExportOptions) -> TrainingReport:
    """Return what an export contains, and its first pairs. Reads only a limited number of sessions with a
    solution.
    """
    report = empty_report(project, options)
    found = pairs_of_sessions(project, report, whole=False)
    first = list(islice(found, FIRST))
    for _ in found:
        pass
    return TrainingReport.of(report, first)


def _lines(project: Project, report: Report) -> Iterator[bytes]:
    for each in pairs_of_sessions(project, report):
        line = json.dumps(each.line(report.options.form), ensure_ascii=False)
        yield line.encode("utf-8", "replace") + b"\n"
