"""The audit log: a page with filters, its check, and its export."""

from typing import Final

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from timemachine.core.accounts.models import ADMIN
from timemachine.core.audit.models import AuditEvent
from timemachine.core.audit.pure.actions import WORDS
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import spaced, whole_number
from timemachine.governance.audit_log.export import streamed
from timemachine.governance.audit_log.queries import (
    SUBJECTS,
    check,
    end_of_chain,
    event_filter,
    events_of,
    forwardings_of,
)
from timemachine.web.access import Access, get_view
from timemachine.web.errors import page_message
from timemachine.web.http import first_rows, page

SHOWN: Final = 100
FILTERS: Final = ("actor", "action", "since", "until")
_SUBJECT_WORDS: Final = {subject: subject.replace("_", " ").capitalize() for subject in SUBJECTS}


@get_view(ADMIN, fresh=True)
def audit_log(request: HttpRequest, access: Access) -> HttpResponse:
    """`/settings/audit-log/`: what happened in the project, newest first. `check=1` verifies the chain."""
    here = _here(request)
    try:
        events = events_of(access.project, event_filter(**here))
        wrong = None
    except InvalidInput as why:
        events, wrong = AuditEvent.objects.none(), why
    after = whole_number(request.GET.get("after", ""))
    rows, last = first_rows(events.filter(id__lt=after) if after else events, SHOWN)
    context = {
        "rows": [(event, WORDS.get(event.action, event.action), _facts(event)) for event in rows],
        "next": last and last.id,
        "here": here,
        "wrong": wrong and page_message(wrong),
        "subjects": _SUBJECT_WORDS,
        "end": end_of_chain(access.project),
        "forwardings": forwardings_of(access.project),
        "checked": check(access.project) if request.GET.get("check") == "1" else None,
    }
    return page(request, "accounts/audit_log.html", context, status=422 if wrong else 200)


@get_view(ADMIN, fresh=True)
def export(request: HttpRequest, access: Access) -> StreamingHttpResponse:
    """`/settings/audit-log/export/`: download the events that the filters choose, in the `format` csv or jsonl."""
    return streamed(access.project, event_filter(**_here(request)), request.GET.get("format", ""))


def _here(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET.get(name, "").strip() for name in FILTERS}


def _facts(event: AuditEvent) -> list[tuple[str, str]]:
    """Return what else is known about an event, in words."""
    return [(name, _in_words(value)) for name, value in (event.facts or {}).items() if value is not None]


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(
            f"{spaced(name)} {_in_words(each)}" for name, each in value.items() if each is not None
        )
    return str(value)
