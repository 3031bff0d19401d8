"""What all pages under /share/ have in common.

No cache stores them, no search engine indexes them, and no other site learns where the visitor came from. Whatever does not exist, or no
longer does, gets one and the same page.
"""

from collections.abc import Callable, Collection
from functools import wraps
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, TimeMachineError, TooManyRequests
from timemachine.core.row_security import rows_of_every_project, see_project
from timemachine.governance.sharing.commands.opening import OpenedLink
from timemachine.governance.sharing.commands.visits import PAGE, PART, view
from timemachine.governance.sharing.pure.token import link_not_valid, parse_token
from timemachine.governance.sharing.queries import grant_of
from timemachine.governance.sharing.scope import Scope
from timemachine.web.access import View
from timemachine.web.errors import TITLES, page_message, waiting
from timemachine.web.http import requested_part

ROOT: Final = "/share"
HEADERS: Final = {
    "Cache-Control": "no-store, private",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_OF_OPENING_PAGE: Final = "_opening"
TITLES_OF: Final = {"too_many_views": "Too many requests", "too_many_downloads": "Too many downloads"}


class SharedHeaders:
    """Adds headers to every response under /share/: pages, errors and redirects."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info == ROOT or request.path_info.startswith(f"{ROOT}/"):
            for name, value in HEADERS.items():
                response[name] = value
            response["Referrer-Policy"] = "strict-origin" if _asks(request, response) else "no-referrer"
        return response


def _asks(request: HttpRequest, response: HttpResponse) -> bool:
    """Return whether it is the page with the form: no-referrer would break its CSRF check, which needs only the origin."""
    found = request.resolver_match
    return found is not None and found.url_name == "share" and response.status_code in {200, 401}


def for_visitors[**P](
    page: View[P],
) -> View[P]:
    """Decorate a view under /share/, so that its error pages show nothing of the app."""
    checked = csrf_protect(page)

    @wraps(page)
    def visited(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            response: HttpResponseBase = checked(request, *args, **kwargs)
        except NotFound:
            response = _error_page(request, link_not_valid())
        except TooManyRequests as why:
            response = waiting(_error_page(request, why, _back(request)), why)
        except TimeMachineError as why:
            response = waiting(_error_page(request, why), why)
        return response

    return csrf_exempt(visited)


def scope_of(
    request: HttpRequest, public_id: str, parts: Collection[str] = (), *, weight: int = PAGE
) -> Scope:
    """Return the scope of the link that this visitor opened, by its cookie. Raises `NotFound`, `TooManyRequests`.

    The request counts as one page; as a part of one if it asks for one of these `parts`.
    """
    counted = weight if requested_part(request, parts) is None else PART
    with rows_of_every_project():
        scope = view(public_id, request.COOKIES.get(_cookie_name(public_id)), counted)
    see_project(scope.link.project_id)
    return scope


def is_open(request: HttpRequest, public_id: str) -> bool:
    """Return whether the link that this visitor opened still shows something. Counts nothing."""
    try:
        with rows_of_every_project():
            grant_of(public_id, request.COOKIES.get(_cookie_name(public_id)))
    except NotFound:
        return False
    return True


def let_in(response: HttpResponse, opened: OpenedLink, *, opened_at: str) -> HttpResponse:
    """Return the response with the cookie for this link only, which the browser sends to its pages and to the page where it was opened (`opened_at`)."""
    public_id = opened.link.public_id
    name = _cookie_name(public_id)
    for called, path in (
        (name, reverse("shared", args=[public_id])),
        (f"{name}{_OF_OPENING_PAGE}", opened_at),
    ):
        response.set_cookie(
            called,
            opened.secret,
            max_age=opened.expires_at - now(),
            path=path,
            secure=settings.SECURE,
            httponly=True,
            samesite="Lax",
        )
    return response


def grant_held(request: HttpRequest, token: str) -> str | None:
    """Return the cookie that this browser got when it opened this link before; only the page tells whether it is still valid."""
    parts = parse_token(token)
    return request.COOKIES.get(f"{_cookie_name(parts.public_id)}{_OF_OPENING_PAGE}") if parts else None


def _cookie_name(public_id: str) -> str:
    return f"{'__Secure-' if settings.SECURE else ''}tms_{public_id}"


def _back(request: HttpRequest) -> dict[str, str]:
    """Return where a visitor continues after waiting: the page of the open link, else its entry page."""
    match = request.resolver_match
    public_id = match.kwargs.get("public_id") if match else None
    if public_id is None:
        return {"address": "", "words": "Back to the link"}
    return {"address": reverse("shared", args=[public_id]), "words": "Back to the shared page"}


def _error_page(
    request: HttpRequest, why: TimeMachineError, back: dict[str, str] | None = None
) -> HttpResponse:
    title = TITLES_OF.get(why.code) or TITLES.get(why.status, "Something went wrong")
    facts = {"title": title, "message": page_message(why), "back": back}
    response = render(request, "shares/error.html", facts, status=why.status)
    response["HX-Refresh"] = "true"  # a part of a page must not be put into one that is no longer valid
    return response
