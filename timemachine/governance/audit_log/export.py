"""The audit log as a file: CSV for spreadsheets, JSON Lines for programs."""

import json
from collections.abc import Iterator
from typing import Final

from django.http import StreamingHttpResponse

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.audit.models import AuditEvent
from timemachine.core.pure.csv_lines import csv_line
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.streams import marked_if_cut_off
from timemachine.governance.audit_log.queries import EventFilter, events_of
from timemachine.governance.audit_log.schemas import AuditEventOut

FORMS: Final = {"jsonl": "application/x-ndjson", "csv": "text/csv"}
_READ_AT_ONCE: Final = 1_000


def streamed(project: Project, chosen: EventFilter, form: str) -> StreamingHttpResponse:
    """Return the response that streams the chosen events, oldest first, as `csv` or `jsonl`; the export is itself an event.

    Raises: `InvalidInput` for another form.
    """
    if form not in FORMS:
        raise InvalidInput("`format` must be `jsonl` or `csv`.", code="invalid_field", field="format")
    record(project, "audit_log.exported", format=form)
    headers = {
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f'attachment; filename="audit-log.{form}"',
    }
    lines = (_csv if form == "csv" else _json_lines)(project, chosen)
    return StreamingHttpResponse(marked_if_cut_off(lines), content_type=FORMS[form], headers=headers)


def _json_lines(project: Project, chosen: EventFilter) -> Iterator[bytes]:
    for event in _oldest_first(project, chosen):
        yield AuditEventOut.of(event).line() + b"\n"


def _csv(project: Project, chosen: EventFilter) -> Iterator[bytes]:
    names = list(AuditEventOut.model_fields)
    yield csv_line(names).encode()
    for event in _oldest_first(project, chosen):
        values = AuditEventOut.of(event).model_dump()
        values["facts"] = json.dumps(values["facts"], ensure_ascii=False) if values["facts"] else ""
        yield csv_line([values[name] for name in names]).encode("utf-8", "replace")


def _oldest_first(project: Project, chosen: EventFilter) -> Iterator[AuditEvent]:
    return events_of(project, chosen).order_by("id").iterator(chunk_size=_READ_AT_ONCE)
