"""Turn keyboard shortcuts of this browser on and off."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

KEPT_SECONDS = 365 * 24 * 3600


@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Store the choice in a cookie and return to the previous page."""
    back = request.META.get("HTTP_REFERER", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        back = "/"
    response = redirect(back)
    chosen = "off" if request.POST.get("keys") == "off" else "on"
    response.set_cookie(
        "tm_keys",
        chosen,
        max_age=KEPT_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response
