"""The cookie by which a browser is known to a person who signed in there: failed sign-ins elsewhere do not delay it."""

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts import known_browsers
from timemachine.core.accounts.models import User

COOKIE: Final = "__Host-tm_browser" if settings.SECURE else "tm_browser"


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
