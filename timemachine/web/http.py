"""Answers of views: pages and the parts that htmx requests, redirects and downloads."""

from collections.abc import Collection, Mapping
from typing import Any, Final
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import resolve_url
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.http import content_disposition_header, url_has_allowed_host_and_scheme

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.server_sent import MEDIA_TYPE

VARIES_ON: Final = ("HX-Request", "HX-Target")
NO_CONTEXT: Final[Mapping[str, object]] = {}


def page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, object] = NO_CONTEXT,
    *,
    parts: Collection[str] = (),
    status: int = 200,
    **more: object,
) -> HttpResponse:
    """Return the template rendered with the context, or `template#part` if htmx targets the element with that id.

    `parts` lists what can be requested alone: each is a `{% partialdef %}` with one root element that has its name as id.
    """
    part = requested_part(request, parts)
    name = f"{template}#{part}" if part else template
    text = render_to_string(name, {**context, **more, "part": part}, request)
    # Text that went through `shown` never needs this. It keeps the page working if someone forgot that.
    response = HttpResponse(text.encode("utf-8", "backslashreplace"), status=status)
    patch_vary_headers(response, VARIES_ON)
    return response


def is_by_htmx(request: HttpRequest) -> bool:
    """Return whether htmx sent the request."""
    return request.headers.get("HX-Request") == "true"


def requested_part(request: HttpRequest, parts: Collection[str]) -> str | None:
    """Return the part that htmx swaps, or None for the full page (a visit, the back button, an unlisted target).

    htmx 4 names its target `section#step`, htmx 2 `step`.
    """
    if not is_by_htmx(request) or request.headers.get("HX-History-Restore-Request"):
        return None
    target = request.headers.get("HX-Target", "").rsplit("#", 1)[-1]
    return target if target in parts else None


def is_unchanged(request: HttpRequest, revision: object) -> bool:
    """Return whether a page that polls already shows this revision; the answer is then an empty 204."""
    return request.GET.get("rev") == str(revision) and is_by_htmx(request)


def place_after(request: HttpRequest) -> UUID | None:
    """Return the page cursor in `after`, None on the first page. Raises `InvalidInput` for an invalid one."""
    written = request.GET.get("after", "")
    if written and uuid_of(written) is None:
        raise InvalidInput("Invalid page. Open the list from its first page.", code="unknown_after")
    return uuid_of(written)


def first_rows[Row: Model](found: QuerySet[Row], size: int) -> tuple[list[Row], Row | None]:
    """Return the first rows, and if there are more, the last of these, after which the next page begins. One query."""
    rows = list(found[: size + 1])
    return rows[:size], rows[size - 1] if len(rows) > size else None


def download(data: bytes, name: str, content_type: str = "text/plain; charset=utf-8") -> HttpResponse:
    """Return a recorded file as a download that no browser interprets."""
    headers = {
        "Content-Disposition": content_disposition_header(as_attachment=True, filename=name) or "attachment",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
    }
    return HttpResponse(data, content_type=content_type, headers=headers)


def see_other(to: str, *args: Any, part: str = "") -> HttpResponseRedirect:
    """Redirect with 303 to a named page or a path; `part` is the id of an element on it. Reloading does not submit the form again."""
    fragment = f"#{part}" if part else ""
    return HttpResponseRedirect(resolve_url(to, *args) + fragment, status=303)


def back_to(request: HttpRequest) -> str:
    """Return the path in `next`, or the first page. Only paths on this server are accepted."""
    path = request.POST.get("next") or request.GET.get("next") or ""
    local = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if local else "/"


class Compressed(GZipMiddleware):
    """Django's compression, for everything but event streams."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the response if it is worth it."""
        if response.get("Content-Type", "").startswith(MEDIA_TYPE):
            return response
        return super().process_response(request, response)
