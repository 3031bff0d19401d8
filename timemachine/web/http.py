"""Render a page, or only the part of it that htmx requested at the same URL."""

from collections.abc import Collection, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers

VARIES_ON = ("HX-Request", "HX-Target")


def page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    parts: Collection[str] = (),
    status: int = 200,
) -> HttpResponse:
    """Return the rendered template, or `template#part` if htmx targets the element with that id.

    `parts` lists what can be requested alone: each is a `{% partialdef %}` with one root element that has its name as id.
    """
    part = requested_part(request, parts)
    name = f"{template}#{part}" if part else template
    text = render_to_string(name, {**context, "part": part}, request)
    # Text that went through `shown` never needs this. It keeps the page working if someone forgot that.
    response = HttpResponse(text.encode("utf-8", "backslashreplace"), status=status)
    patch_vary_headers(response, VARIES_ON)
    return response


def requested_part(request: HttpRequest, parts: Collection[str]) -> str | None:
    """Return the part that htmx swaps, or None for the full page (a visit, the back button, an unlisted target).

    htmx 4 names its target `section#step`, htmx 2 `step`.
    """
    if request.headers.get("HX-Request") != "true" or request.headers.get("HX-History-Restore-Request"):
        return None
    target = request.headers.get("HX-Target", "").rsplit("#", 1)[-1]
    return target if target in parts else None
