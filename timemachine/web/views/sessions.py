"""The list of sessions, and one recorded payload as a file."""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from timemachine.base.errors import NotFound
from timemachine.demo.commands import DEMO_TAG
from timemachine.evidence.listed import listed_seals
from timemachine.payloads.models import Payload
from timemachine.recording.models import Action, Hit, Session
from timemachine.recording.queries import session_of
from timemachine.timeline.course import courses_of
from timemachine.timeline.sessions import Wanted, sessions_page
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.local_key import local_key

FILTERS = ("q", "agent", "status", "tag", "model", "tool", "since", "until")

CHIPS = ("agent", "tag", "model", "tool", "since", "until")


@require_safe
def sessions(request: HttpRequest) -> HttpResponse:
    """`/`: the project's sessions, newest first; `q`, `agent`, `status`, `tag`, `model`, `tool`, `since` and `until` filter, `after` goes on."""
    access = of(request)
    here = {name: request.GET[name].strip() for name in FILTERS if request.GET.get(name, "").strip()}
    after = request.GET.get("after") or None
    wanted = Wanted(**{name: here.get(name, "") for name in FILTERS})  # type: ignore[arg-type]
    found = sessions_page(access.project, wanted, after)
    context: dict[str, Any] = {
        "here": here,
        "chips": [(name, value, _without(here, name)) for name, value in here.items() if name in CHIPS],
        "after": after,
        "found": found,
        "courses": courses_of(found.sessions) if found.sessions else {},
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


def _without(here: dict[str, str], name: str) -> str:
    """The address's query without one of its filters."""
    kept = {each: value for each, value in here.items() if each != name}
    return "?" + urlencode(kept, safe=":,", errors="surrogatepass")


@require_safe
def payload(request: HttpRequest, id: str, sha256: str) -> HttpResponse:  # noqa: A002
    """The bytes of a payload of this session, as a download that no browser interprets."""
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
    """A payload that an action or a hit of this session refers to. Raises `NotFound` for any other."""
    for found in Payload.objects.filter(project=session.project_id, sha256=sha256):
        of_action = Q(input=found) | Q(output=found) | Q(source=found)
        if Action.objects.filter(of_action, session=session).exists():
            return found
        if Hit.objects.filter(action__session=session, payload=found).exists():
            return found
    raise NotFound("This session has no payload with that SHA-256.", code="payload_not_found")
