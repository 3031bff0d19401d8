"""Errors as pages: each of our errors becomes its status and one clear sentence, here and nowhere else."""

import logging
import sys
from collections.abc import Callable
from math import ceil
from urllib.parse import urlsplit, urlunsplit

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.errors import InvalidInput, NotFound, NotSignedIn, TimeMachineError
from timemachine.core.pure.single_values import check_once_each
from timemachine.recording.sessions.database_errors import is_away
from timemachine.web.form_pages import form_page_of

log = logging.getLogger(__name__)
_AWAY_SECONDS = 2
_NOT_SO = 405
_FOR_PROGRAMS = ("/api/", "/v1/")
_SEVERAL = frozenset({"run", "session"})
"""What a page lets choose several of: runs and sessions to compare."""
_TOLD = frozenset({"significance", "role", "kind", "tag"})
"""Of what is told of a transcript several may be chosen."""
_ONLY_SENT = "This address only takes what a form sends. Go back to the page with the form."
_ONLY_READ = "Nothing can be sent to this address. Go back, reload the page and try again."
TITLES = {
    400: "Not understood",
    401: "Please sign in",
    403: "Not allowed",
    404: "Not found",
    405: "Nothing to open here",
    409: "That does not fit",
    413: "Too large",
    422: "That cannot be used",
    429: "Too many tries",
    502: "The model failed",
    503: "Not available",
}


class ErrorPages:
    """Turns an error that a view raised into a page with its status and its sentence."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == _NOT_SO and not response.content:
            return not_so(request, response)
        return response

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        """A page that is asked for with two values of one name says so, but where a form lets several be chosen."""
        if request.method not in {"GET", "HEAD"} or request.path_info.startswith(_FOR_PROGRAMS):
            return None
        try:
            match = request.resolver_match
            is_transcript = match is not None and str(match.url_name).startswith("transcript")
            check_once_each(request.GET.lists(), _TOLD if is_transcript else _SEVERAL)
        except InvalidInput as why:
            return error_page(request, why.status, why.message)
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Our own errors as pages; any other is a fault and goes on to Django."""
        if isinstance(error, NotSignedIn):
            return sign_in_first(request, error)
        if is_away(error):
            return database_away(request, error)
        if not isinstance(error, TimeMachineError):
            return None
        if error.code == "session_deleted":
            return deleted_session(request, error)
        response = error_page(request, error.status, error.message)
        return waiting(response, error)


def sign_in_first(request: HttpRequest, error: NotSignedIn) -> HttpResponse:
    """To the sign-in page and back here; what a form sent is not kept, so that gets a page which says so."""
    if request.headers.get("HX-Request") == "true":
        return HttpResponseClientRedirect(_sign_in_address(_page_of(request)))
    if request.method in {"GET", "HEAD"}:
        return redirect(_sign_in_address(request.get_full_path()))
    return error_page(request, error.status, error.message)


def not_so(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Where an address does not take what it was asked: on to its form, where that has a page, else a page that says so."""
    reading = request.method in {"GET", "HEAD"}
    form = form_page_of(request) if reading else None
    if form:
        return redirect(form)
    told = error_page(request, _NOT_SO, _ONLY_SENT if reading else _ONLY_READ)
    told["Allow"] = response["Allow"]
    return told


def waiting(response: HttpResponse, error: TimeMachineError) -> HttpResponse:
    """The response with the header that tells programs how long to wait, where the error knows."""
    if "retry_after_seconds" in error.facts:
        response["Retry-After"] = str(ceil(error.facts["retry_after_seconds"]))
    return response


def error_page(request: HttpRequest, status: int, message: str) -> HttpResponse:
    """The page of an error: what it is, and what to do."""
    facts = {"status": status, "title": TITLES.get(status, "Something went wrong"), "message": message}
    return render(request, "errors/error.html", facts, status=status)


def deleted_session(request: HttpRequest, error: TimeMachineError) -> HttpResponse:
    """The page of a session that the project deleted: when, by whom and why, what stays of it, and where the log says so."""
    facts = dict(error.facts) | {"at": parse_time(error.facts["deleted"]["at"])}
    shown = {"status": error.status, "title": "This session was deleted", "gone": facts}
    return render(request, "errors/deleted_session.html", shown, status=error.status)


def database_away(request: HttpRequest, error: BaseException) -> HttpResponse:
    """The page of a database that does not answer; it asks it nothing, not even who it is for."""
    log.warning("%s %s failed: %s", request.method, request.path, error)
    facts = {
        "status": 503,
        "title": "Not available",
        "message": "The database does not answer just now. Reload the page in a moment; nothing was saved half-way.",
        "project": None,
        "messages": (),
    }
    response = render(request, "errors/away.html", facts, status=503)
    response["Retry-After"] = str(_AWAY_SECONDS)
    return response


def _sign_in_address(back_to: str) -> str:
    return reverse("sign_in", query={"next": back_to})


def _page_of(request: HttpRequest) -> str:
    # A part is asked for by a page, and that is where the person wants to be again.
    page = urlsplit(request.headers.get("HX-Current-URL", ""))
    return urlunsplit(("", "", page.path or "/", page.query, ""))


def not_understood(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """The 400 page: what Django itself refuses to read."""
    return error_page(
        request, 400, "The server could not read this request. Go back, reload the page and try again."
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """The 403 page of what Django itself refuses."""
    return error_page(request, 403, "This is not allowed here. Ask an administrator of the project.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # Django's form
    """The 404 page, the same for what does not exist and for what is another project's; JSON under `/api/`."""
    if request.path.startswith("/api/"):
        missing = NotFound("There is no such address in the API; /api/docs lists those there are.")
        return JsonResponse(missing.as_json(), status=missing.status)
    return error_page(request, 404, "There is no such page, or it belongs to another project.")


def refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The page of a form whose CSRF token is missing or stale."""
    log.info("a form was refused: %s", reason)
    return error_page(request, 403, "This form is too old. Go back, reload the page and send it again.")


def broken(request: HttpRequest) -> HttpResponse:
    """The 500 page; where the database was away, before a view or behind it, the page that says so."""
    error = sys.exception()
    if error is not None and is_away(error):
        return database_away(request, error)
    return error_page(request, 500, "This is a fault of ours. It is in the log; nothing was saved half-way.")
