"""Pages under /share/: what they have in common is that they are nobody's business but the visitor's.

Nothing is stored on the way, nothing is indexed, nothing tells another site where the visitor came from; and whatever is not
there, or not any more, gets one and the same page.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from timemachine.base.clock import now
from timemachine.base.errors import NotFound, TimeMachineError
from timemachine.sharing.commands import Opened
from timemachine.sharing.queries import grant_of
from timemachine.sharing.recorded import gone
from timemachine.sharing.scope import Scope
from timemachine.web.errors import TITLES, waiting

HEADERS = {
    "Cache-Control": "no-store, private",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def for_visitors[**P](
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """The view with the headers of every page under /share/, and with its errors as pages that show nothing of the app."""
    checked = csrf_protect(view)  # inside, so that a refused form has the headers too

    @wraps(view)
    def visited(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            response = checked(request, *args, **kwargs)
        except NotFound:
            response = _sorry(request, gone())
        except TimeMachineError as why:
            response = waiting(_sorry(request, why), why)
        for name, value in HEADERS.items():
            response[name] = value
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        return response

    return csrf_exempt(visited)


def scope_of(request: HttpRequest, public_id: str) -> Scope:
    """What this visitor may read of the link, by the cookie that opening it gave. Raises `NotFound`."""
    return grant_of(public_id, request.COOKIES.get(_cookie_name(public_id)))


def let_in(response: HttpResponse, opened: Opened) -> HttpResponse:
    """The response with the cookie for this link alone, which the browser sends to its pages and nowhere else."""
    public_id = opened.link.public_id
    response.set_cookie(
        _cookie_name(public_id),
        opened.secret,
        max_age=opened.expires_at - now(),
        path=reverse("shared", args=[public_id]),
        secure=settings.SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _cookie_name(public_id: str) -> str:
    return f"{'__Secure-' if settings.SECURE else ''}tms_{public_id}"


def _sorry(request: HttpRequest, why: TimeMachineError) -> HttpResponse:
    facts = {"title": TITLES.get(why.status, "Something went wrong"), "message": why.message}
    response = render(request, "shares/sorry.html", facts, status=why.status)
    response["HX-Refresh"] = "true"  # a part of a page that is gone must not stand inside what is left of it
    return response
