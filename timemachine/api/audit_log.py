"""The audit log over HTTP: list, export, check."""

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.api.openapi import file_answer
from timemachine.governance.audit_log import queries
from timemachine.governance.audit_log.export import streamed
from timemachine.governance.audit_log.schemas import AuditCheck, AuditEventOut, AuditPage

router = Router(tags=["audit log"])


@router.get("", response=AuditPage, summary="List what happened in the project")
def index(
    request: HttpRequest,
    actor: str = "",
    action: str = "",
    since: str = "",
    until: str = "",
    limit: int = paging.DEFAULT,
    after: str | None = None,
) -> AuditPage:
    """Who did what, newest first: sign-ins, members, keys, share links, exports, deletions, replays and settings.

    `action` is one such as `key.created`, or its subject, such as `key`. `since` and `until` are times; a date alone means its whole day in UTC.
    """
    project = caller(request, "admin").project
    chosen = queries.event_filter(actor=actor, action=action, since=since, until=until)
    rows, following = paging.ordered_rows(
        queries.events_of(project, chosen), limit, after, kind=paging.number
    )
    return AuditPage.model_construct(items=[AuditEventOut.of(each) for each in rows], next=following)


@router.get(
    "/export",
    summary="Export the audit log",
    openapi_extra=file_answer("application/x-ndjson", "text/csv"),
)
def export(
    request: HttpRequest,
    format: str = "jsonl",  # noqa: A002  # the name in the address
    actor: str = "",
    action: str = "",
    since: str = "",
    until: str = "",
) -> StreamingHttpResponse:
    """All chosen events, oldest first, as JSON lines or with `format=csv` for a spreadsheet. The export is an event itself."""
    project = caller(request, "admin").project
    chosen = queries.event_filter(actor=actor, action=action, since=since, until=until)
    return streamed(project, chosen, format)


@router.get("/check", response=AuditCheck, summary="Check the chain of the audit log")
def check(request: HttpRequest) -> AuditCheck:
    """Read the chain from its first line, verify every hash, and compare it with the project's signed evidence log."""
    return queries.check(caller(request, "admin").project)
