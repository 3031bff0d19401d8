"""Redirects after a form was submitted."""

from typing import Any

from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme


def see_other(to: str, *args: Any, part: str = "") -> HttpResponseRedirect:
    """Redirect with 303 to a named page or a path; `part` is the id of an element on it. Reloading does not submit the form again."""
    fragment = f"#{part}" if part else ""
    return HttpResponseRedirect(resolve_url(to, *args) + fragment, status=303)


def back_to(request: HttpRequest) -> str:
    """Return the path in `next`, or the first page. Only paths on this server are accepted."""
    path = request.POST.get("next") or request.GET.get("next") or ""
    local = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if local else "/"
