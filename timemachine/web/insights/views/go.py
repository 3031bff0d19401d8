"""`/go/`: the box at the top of every page. It opens what the text names, else searches for it."""

import re
from collections.abc import Iterator
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import redirect
from django.urls import reverse

from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.comparison.queries import comparison_of
from timemachine.replay.runs.queries import replay_of
from timemachine.replay.sweeps.queries import sweep_of
from timemachine.web.access import Access, get_view

_STEP: Final = re.compile(r"(?:step\s+|#\s*)?(\d{1,15})", re.IGNORECASE)
_SESSION_AND_STEP: Final = re.compile(r"(\S+?)(?:\s+step\s+|\s*#\s*|[:\s]\s*)(\d{1,15})", re.IGNORECASE)
_BY_ID: Final = (("replay", replay_of), ("comparison", comparison_of), ("sweep", sweep_of))


@get_view()
def go(request: HttpRequest, access: Access) -> HttpResponse:
    """`/go/?q=`: open the session, step, replay, comparison or sweep with this id, key or number; a question asks earlier
    sessions, and everything else is searched for. A number is a step of the session in `session`."""
    written = request.GET.get("q", "").strip()
    address = next(_named(access, written, request.GET.get("session", "")), None)
    if address is not None:
        return redirect(address)
    return _search("recall" if written.endswith("?") else "search", written)


def _named(access: Access, written: str, here: str) -> Iterator[str]:
    """Yield the addresses of what has this name."""
    if here and (step := _STEP.fullmatch(written)):
        yield from _session(access, here, step[1])
    yield from _session(access, written)
    if both := _SESSION_AND_STEP.fullmatch(written):
        yield from _session(access, both[1], both[2])
    if uuid_of(written) is not None:
        for page, find in _BY_ID:
            try:
                yield reverse(page, args=[find(access.project, written).id])
            except NotFound:
                continue


def _session(access: Access, name: str, step: str = "") -> Iterator[str]:
    try:
        found = session_of(access.project, name)
    except NotFound:
        return
    yield reverse("timeline", args=[found.id], query={"step": int(step)} if step else None)


def _search(page: str, written: str) -> HttpResponseRedirectBase:
    return redirect(reverse(page, query={"q": written} if written else None))
