"""The list of sessions, and the download of a recorded payload."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts.commands.keys import valid_key
from timemachine.core.accounts.models import OPERATOR, Project
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.core.pure.home import local_key_file
from timemachine.core.replica import read_from_replica
from timemachine.evidence.queries import listed_seals
from timemachine.management.demo.commands import DEMO_TAG
from timemachine.memory.search.sessions import SessionQuery, SessionsPage, sessions_page
from timemachine.recording.sessions.branches import Branch, branch_tree
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.copies import copied_in
from timemachine.recording.timeline.sparkline_counts import activity_of
from timemachine.web.access import Access, get_view
from timemachine.web.form_parts import usd_as_written
from timemachine.web.http import download, page
from timemachine.web.payloads.responses import image_in_payload
from timemachine.web.sessions.presenters.steps import address_query

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
    "steps_since": ("With a step since", "2026-11-01"),
    "steps_until": ("With a step until", "2026-11-30"),
}
"""Text filters, each with its label and an example."""


@get_view()
@read_from_replica
def sessions(request: HttpRequest, access: Access) -> HttpResponse:
    """`/`: the project's sessions, newest first, with the filters of the API; `after` is the page cursor."""
    here = {name: request.GET[name].strip() for name in FILTERS if request.GET.get(name, "").strip()}
    after = request.GET.get("after") or None
    found, wrong = _matching_page(access.project, here, after)
    context: dict[str, object] = {
        "here": here,
        "kinds": KINDS,
        "typed": [(name, label, here.get(name, ""), example) for name, (label, example) in TYPED.items()],
        "wrong": wrong,
        "chips": [
            (name, value, address_query({**here, name: None}))
            for name, value in here.items()
            if name not in IN_SIGHT
        ],
        "after": after,
        "found": found,
        "copied": copied_in(found.sessions) if found.sessions else {},
        "courses": activity_of(found.sessions) if found.sessions else {},
        "seals": listed_seals(found.sessions) if found.sessions else {},
        "may_record": access.may(OPERATOR),
        "server": settings.PUBLIC_URL,
        "demo_is_here": any(DEMO_TAG in session.tags for session in found.sessions),
    }
    if found.sessions or here or after:
        return page(request, "sessions/list.html", context, parts=("more",))
    response = page(request, "sessions/list.html", context, example_key=local_key(access))
    response["Cache-Control"] = "private, no-store"  # it may show a key
    return response


def _matching_page(
    project: Project, here: dict[str, str], after: str | None
) -> tuple[SessionsPage, InvalidInput | None]:
    """Return the matching sessions, or none and the error in the filter."""
    try:
        cost = usd_as_written(here.get("min_cost", ""), "min_cost")
        session_query = SessionQuery(**{**here, "min_cost": cost})  # type: ignore[arg-type]
        return sessions_page(project, session_query, after), None
    except InvalidInput as why:
        return SessionsPage(sessions=(), next=None), why


@get_view()
def payload(_request: HttpRequest, access: Access, id: str, sha256: str) -> HttpResponse:
    """Download a payload of this session, in a way that no browser interprets."""
    session = session_of(access.project, id)
    found = _payload_of(session, sha256)
    extension = "json" if found.media_type == "application/json" else "txt"
    return download(found.data, f"{sha256[:16]}.{extension}")


@get_view()
def payload_image(_request: HttpRequest, access: Access, id: str, sha256: str, number: int) -> HttpResponse:
    """Return an image in a payload of this session."""
    found = _payload_of(session_of(access.project, id), sha256)
    return image_in_payload(found.media_type, found.data, number)


def _payload_of(session: Session, sha256: str) -> Payload:
    """Return a payload that a step or a hit of this session refers to. Raises `NotFound` for any other."""
    for found in Payload.objects.filter(project=session.project_id, sha256=sha256):
        of_action = Q(input=found) | Q(output=found) | Q(source=found)
        if Action.objects.filter(of_action, session=session).exists():
            return found
        if Hit.objects.filter(action__session=session, payload=found).exists():
            return found
    raise NotFound("This session has no payload with that SHA-256.", code="payload_not_found")


def local_key(access: Access) -> str | None:
    """Return this machine's key if it belongs to this project and the person is an administrator; else None.

    It is in a file that only the server's user can read, and it is only shown to people who could create a key themselves.
    """
    if not access.administers:
        return None
    try:
        text = local_key_file().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    key = valid_key(text)
    return text if key is not None and key.project_id == access.project.pk else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A session in the tree: whether it is the first branch of its parent, whether it is the last one, and how many lists end with it."""

    session: Session
    first: bool
    last: bool
    ends: range


@get_view()
def branches(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/branches/`: all branches around the session."""
    session = session_of(access.project, id)
    family = branch_tree(session)
    context = {
        "session": session,
        "rows": list(_rows(family.branches)),
        "copied": copied_in(each.session for each in family.branches),
        "complete": family.complete,
    }
    return page(request, "sessions/branches.html", context)


def _rows(branches: Sequence[Branch]) -> Iterator[_Row]:
    depths = [branch.depth for branch in branches]
    for branch, before, after in zip(branches, [0, *depths], [*depths[1:], 0], strict=False):
        yield _Row(
            session=branch.session,
            first=branch.depth > before,
            last=branch.depth >= after,
            ends=range(branch.depth - after),
        )
