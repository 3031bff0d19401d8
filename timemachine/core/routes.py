"""The URL pattern of a request, for logs and metrics: unlike the URL, it contains no names of sessions or files."""

from typing import Final

from django.http import HttpRequest

UNKNOWN: Final = "an unknown URL"


def route_of(request: HttpRequest) -> str:
    """Return the pattern that the URL matches, such as `/api/sessions/{session}`."""
    match = request.resolver_match
    return UNKNOWN if match is None else f"/{match.route}"
