"""The list of sessions, and the download of a recorded payload."""

from dataclasses import fields
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.evidence.seal_status import listed_seals
from timemachine.management.demo.commands import DEMO_TAG
from timemachine.memory.search.sessions import SessionQuery, SessionsPage, sessions_page
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.sparkline_counts import activity_of
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.money_fields import usd_as_written
from timemachine.web.sessions.presenters.local_key import local_key

FILTERS = tuple(field.name for field in fields(SessionQuery) if field.name != "named")
IN_SIGHT = ("q", "status")
"""Filters with a control next to the title; the others are collapsed, and shown as chips when set."""
TYPED = {
    "tool": ("With a call of tool", ""),
    "model": ("With a call of model", ""),
    "agent": ("Agent", ""),
    "user": ("User", ""),
    "tag": ("Tag", ""),
    "min_cost": ("Cost from (USD)", "0.25"),
    "since": ("Started since", "2026-11-01"),
    "until": ("Started until", "2026-11-30"),
}
"""Text filters, each with its label and an example."""


@require_safe
def sessions(request: HttpRequest) -> HttpResponse:
    """`/`: the project's sessions, newest first, with the filters of the API; `after` is the page cursor."""
    access = of(request)
    here = {name: request.GET[name].strip() for name in FILTERS if request.GET.get(name, "").strip()}
    after = request.GET.get("after") or None
    found, wrong = _found(access.project, here, after)
    context: dict[str, Any] = {
        "here": here,
        "kinds": KINDS,
        "typed": [(name, label, here.get(name, ""), example) for name, (label, example) in TYPED.items()],
        "wrong": wrong,
        "chips": [
            (name, value, _without(here, name)) for name, value in here.items() if name not in IN_SIGHT
        ],
        "after": after,
        "found": found,
        "courses": activity_of(found.sessions) if found.sessions else {},
        "seals": listed_seals(found.sessions) if found.sessions else {},
        "may_record": access.may("operator"),
        "server": settings.PUBLIC_URL,
        "demo_is_here": any(DEMO_TAG in session.tags for session in found.sessions),
    }
    if found.sessions or here or after:
        return page(request, "sessions/list.html", context, parts=("more",))
    response = page(request, "sessions/list.html", context | {"example_key": local_key(access)})
    response["Cache-Control"] = "private, no-store"  # it may show a key
    return response


def _found(
    project: Project, here: dict[str, str], after: str | None
) -> tuple[SessionsPage, InvalidInput | None]:
    """Return the matching sessions, or none and the error in the filter."""
    try:
        cost = usd_as_written(here.get("min_cost", ""), "min_cost")
        wanted = SessionQuery(**{**here, "min_cost": cost})  # type: ignore[arg-type]
        return sessions_page(project, wanted, after), None
    except InvalidInput as why:
        return SessionsPage(sessions=(), next=None), why


def _without(here: dict[str, str], name: str) -> str:
    """Return the query string without one of its filters."""
    kept = {each: value for each, value in here.items() if each != name}
    return "?" + urlencode(kept, safe=":,", errors="surrogatepass")


@require_safe
def payload(request: HttpRequest, id: str, sha256: str) -> HttpResponse:  # noqa: A002
    """Download a payload of this session, in a way that no browser interprets."""
    session = session_of(of(request).project, id)
    found = _payload_of(session, sha256)
    extension = "json" if found.media_type == "application/json" else "txt"
    return HttpResponse(
        bytes(found.data),
        content_type="text/plain; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{sha256[:16]}.{extension}"',
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        },
    )


def _payload_of(session: Session, sha256: str) -> Payload:
    """Return a payload that a step or a hit of this session refers to. Raises `NotFound` for any other."""
    for found in Payload.objects.filter(project=session.project_id, sha256=sha256):
        of_action = Q(input=found) | Q(output=found) | Q(source=found)
        if Action.objects.filter(of_action, session=session).exists():
            return found
        if Hit.objects.filter(action__session=session, payload=found).exists():
            return found
    raise NotFound("This session has no payload with that SHA-256.", code="payload_not_found")
