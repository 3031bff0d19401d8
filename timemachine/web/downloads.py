"""Tell a page that a download it started has begun: until then a browser shows nothing, however long the file takes to make.

A link's script adds `begun=TOKEN` to the address. The response, also that of an error, sets the cookie `tm_begun_TOKEN`, for
which the script waits (`static/js/timemachine.js`).
"""

import re
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

_TOKEN: Final = re.compile(r"(?:^|&)begun=([0-9a-z]{8,16})(?:&|$)")
_KEPT_SECONDS: Final = 60


class DownloadBegun:
    """Middleware that sets the cookie on responses to addresses with a token."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on, and mark the response."""
        response = self._get_response(request)
        if found := _TOKEN.search(request.META.get("QUERY_STRING", "")):
            response.set_cookie(
                f"tm_begun_{found[1]}",
                "1",
                max_age=_KEPT_SECONDS,
                secure=settings.SESSION_COOKIE_SECURE,
                samesite="Lax",
            )
        return response
