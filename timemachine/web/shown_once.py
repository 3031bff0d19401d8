"""Secrets that are shown only once: a new key, a new link.

A secret goes to the browser in a signed cookie with the redirect and is deleted when the page shows it. The server stores only
its hash, and reloading the page neither shows it again nor creates a second one.
"""

from dataclasses import asdict, dataclass

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts.models import User

COOKIE = "tm_once"
PATH = "/settings/"
SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownOnce:
    """A secret, its subject, and its kind: `key`, `invite`, `reset`, `codes`."""

    kind: str
    subject: str
    text: str


def hand_over(response: HttpResponse, user: User, shown: ShownOnce) -> HttpResponse:
    """Hand the secret to this person's browser, for the next page."""
    value = signing.dumps(asdict(shown), salt=_salt(user), compress=True)
    response.set_cookie(
        COOKIE,
        value,
        max_age=SECONDS,
        path=PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )
    return response


def taken(request: HttpRequest, user: User) -> ShownOnce | None:
    """Return the secret handed to this person, or None; call `forget` afterwards."""
    try:
        value = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_salt(user), max_age=SECONDS)
    except signing.BadSignature:
        return None
    return ShownOnce(**value)


def forget(response: HttpResponse) -> HttpResponse:
    """Delete the secret in the browser."""
    response.delete_cookie(COOKIE, path=PATH, samesite="Strict")
    return response


def _salt(user: User) -> str:
    return f"shown once to {user.pk}"
