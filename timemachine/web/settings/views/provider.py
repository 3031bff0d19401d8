"""Sign in with the organisation's OpenID Connect provider."""

import logging
import re
from dataclasses import asdict
from datetime import timedelta
from secrets import compare_digest
from typing import Any, Final

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from timemachine.core.accounts.provider import commands, protocol
from timemachine.core.accounts.provider.protocol import Attempt, refused
from timemachine.core.pure.errors import NotAllowed, NotSignedIn, Unavailable
from timemachine.web.errors import page_message
from timemachine.web.http import back_to
from timemachine.web.row_security import for_every_project
from timemachine.web.settings import signing_in
from timemachine.web.settings.views.sign_in import sign_in_page

log = logging.getLogger(__name__)
_COOKIE: Final = "__Host-tm_provider" if settings.SECURE else "tm_provider"
"""The cookie with the signed attempt. It is not in the database, where anyone could make as many rows as they like."""
_SALT: Final = "timemachine.provider_attempt"
_ANSWERED_WITHIN: Final = timedelta(minutes=30)
_LONGEST_RETURN: Final = 1_000  # a cookie has at most 4,096 bytes
_ERROR_CODE: Final = re.compile(r"[a-z_]{1,40}")


@never_cache
@require_safe
@for_every_project
def begin(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider."""
    _check_configured()
    attempt, again = protocol.new_attempt(), "again" in request.GET
    try:
        address = protocol.authorization_url(attempt, redirect_uri=_redirect_uri(), again=again)
    except Unavailable as why:
        return _refused(request, why, back_to(request))
    following = back_to(request)
    stored_attempt = {
        "attempt": asdict(attempt),
        "following": following if len(following) <= _LONGEST_RETURN else "/",
    }
    answer = HttpResponseRedirect(address)
    answer.set_cookie(
        _COOKIE,
        signing.dumps(stored_attempt, salt=_SALT),
        max_age=_ANSWERED_WITHIN,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return answer


@never_cache
@require_safe
@for_every_project
def end(request: HttpRequest) -> HttpResponse:
    """Sign in the person whom the provider sends back. A browser answers each attempt once."""
    _check_configured()
    answer = _end(request, _stored_attempt(request))
    answer.delete_cookie(_COOKIE, samesite="Lax")
    return answer


@sensitive_variables("stored_attempt", "attempt", "claims")
def _end(request: HttpRequest, stored_attempt: dict[str, Any]) -> HttpResponse:
    following = stored_attempt.get("following", "/")
    try:
        attempt = _answered(request, stored_attempt)
        claims = protocol.claims_of(request.GET.get("code", ""), attempt, redirect_uri=_redirect_uri())
        user = commands.person_of(claims)
    except (NotSignedIn, NotAllowed, Unavailable) as why:
        return _refused(request, why, following)
    return signing_in.begin(
        request,
        user,
        way="provider",
        following=following,
        proved_at=_number(claims.get("auth_time")),
        second_factor="mfa" in (claims.get("amr") or ()),
    )


def _stored_attempt(request: HttpRequest) -> dict[str, Any]:
    """Return the attempt that this browser has stored, and where to continue; empty if it made none, or too long ago."""
    try:
        stored: dict[str, Any] = signing.loads(
            request.COOKIES.get(_COOKIE, ""), salt=_SALT, max_age=_ANSWERED_WITHIN
        )
    except signing.BadSignature:
        return {}
    return stored


def _answered(request: HttpRequest, stored_attempt: dict[str, Any]) -> Attempt:
    state = request.GET.get("state", "").encode()
    if not stored_attempt or not compare_digest(stored_attempt["attempt"]["state"].encode(), state):
        raise refused("this browser did not ask for it, or took too long")
    error = request.GET.get("error")
    if error is not None:
        raise refused(f"it answered {error if _ERROR_CODE.fullmatch(error) else 'an unknown error'}")
    if request.GET.get("iss", protocol.provider().issuer) != protocol.provider().issuer:
        raise refused("the answer comes from another provider")
    return Attempt(**stored_attempt["attempt"])


def _refused(
    request: HttpRequest, why: NotSignedIn | NotAllowed | Unavailable, following: str
) -> HttpResponse:
    log.warning("sign-in with the provider failed: %s", why.facts.get("reason", why.message))
    return sign_in_page(request, status=why.status, note=page_message(why), following=following)


def _check_configured() -> None:
    if not protocol.is_configured():
        raise Http404


def _redirect_uri() -> str:
    return f"{settings.PUBLIC_URL}{reverse('provider_answer')}"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
