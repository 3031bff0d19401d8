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
from timemachine.web.settings import signing_in
from timemachine.web.settings.views.sign_in import sign_in_page

log = logging.getLogger(__name__)
_COOKIE: Final = "__Host-tm_provider" if settings.SECURE else "tm_provider"
"""What the attempt is kept in, signed: a row in the database could be made by anyone, as often as they like."""
_SALT: Final = "timemachine.provider_attempt"
_ANSWERED_WITHIN: Final = timedelta(minutes=30)
_LONGEST_RETURN: Final = 1_000  # a cookie has at most 4,096 bytes
_ERROR_CODE: Final = re.compile(r"[a-z_]{1,40}")


@never_cache
@require_safe
def begin(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider."""
    _check_configured()
    attempt, again = protocol.new_attempt(), "again" in request.GET
    try:
        address = protocol.authorization_url(attempt, redirect_uri=_redirect_uri(), again=again)
    except Unavailable as why:
        return _refused(request, why, back_to(request))
    following = back_to(request)
    kept = {
        "attempt": asdict(attempt),
        "following": following if len(following) <= _LONGEST_RETURN else "/",
    }
    answer = HttpResponseRedirect(address)
    answer.set_cookie(
        _COOKIE,
        signing.dumps(kept, salt=_SALT),
        max_age=_ANSWERED_WITHIN,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return answer


@never_cache
@require_safe
def end(request: HttpRequest) -> HttpResponse:
    """Sign in the person whom the provider sends back. A browser answers each attempt once."""
    _check_configured()
    answer = _end(request, _kept_by(request))
    answer.delete_cookie(_COOKIE, samesite="Lax")
    return answer


@sensitive_variables("kept", "attempt", "claims")
def _end(request: HttpRequest, kept: dict[str, Any]) -> HttpResponse:
    following = kept.get("following", "/")
    try:
        attempt = _answered(request, kept)
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


def _kept_by(request: HttpRequest) -> dict[str, Any]:
    """Return what the browser kept of its attempt; nothing if it made none, or too long ago."""
    try:
        kept: dict[str, Any] = signing.loads(
            request.COOKIES.get(_COOKIE, ""), salt=_SALT, max_age=_ANSWERED_WITHIN
        )
    except signing.BadSignature:
        return {}
    return kept


def _answered(request: HttpRequest, kept: dict[str, Any]) -> Attempt:
    state = request.GET.get("state", "").encode()
    if not kept or not compare_digest(kept["attempt"]["state"].encode(), state):
        raise refused("this browser did not ask for it, or took too long")
    error = request.GET.get("error")
    if error is not None:
        raise refused(f"it answered {error if _ERROR_CODE.fullmatch(error) else 'an unknown error'}")
    if request.GET.get("iss", protocol.provider().issuer) != protocol.provider().issuer:
        raise refused("the answer comes from another provider")
    return Attempt(**kept["attempt"])


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
