"""The browser of a request: signing it in, noting its use, and the cookie by which it is known to a person who signed in there.

Failed sign-ins elsewhere do not delay a known browser.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from django.conf import settings
from django.contrib.auth import login
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts import known_browsers
from timemachine.core.accounts.browser_sessions import SessionStore
from timemachine.core.accounts.commands.browsers import delete_ended_sessions
from timemachine.core.accounts.models import User
from timemachine.core.pure.addresses import network_of
from timemachine.core.pure.browser_names import browser_name
from timemachine.web.access import address_of

COOKIE: Final = "__Host-tm_browser" if settings.SECURE else "tm_browser"
_POLL: Final = "X-Poll"
"""The header of what a page requests automatically for as long as it is open; see timemachine.js and live.js."""


class NotedUse:
    """Notes when a signed-in browser was last used. A page that updates itself is not use."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        session = request.session
        if isinstance(session, SessionStore) and session.accessed and _POLL not in request.headers:
            with suppress(OperationalError, InterfaceError):  # the page was computed all the same
                session.note_use()
        return response


def sign_in_browser(request: HttpRequest, user: User) -> None:
    """Sign in this browser, in a new session."""
    delete_ended_sessions()
    login(request, user)
    if isinstance(request.session, SessionStore):
        device = browser_name(request.headers.get("User-Agent", ""))
        request.session.describe(device=device, network=network_of(address_of(request)) or "")


def known_browser(request: HttpRequest) -> str:
    """Return the token of this browser, or the empty string. It may be outdated or forged."""
    return request.COOKIES.get(COOKIE, "")


def know_browser(response: HttpResponse, user: User) -> HttpResponse:
    """Give the browser a new token of this person, who has just signed in or changed the password."""
    response.set_cookie(
        COOKIE,
        known_browsers.token_for(user),
        max_age=known_browsers.KEPT_FOR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response
