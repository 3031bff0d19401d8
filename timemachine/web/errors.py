"""Error pages: each of our errors becomes its status and one sentence, here and nowhere else."""

import logging
import re
import sys
from collections.abc import Callable, Mapping
from math import ceil
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from timemachine.core.database import failure_of
from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.database_failures import Failure
from timemachine.core.pure.errors import (
    InvalidInput,
    NotAllowed,
    NotFound,
    NotSignedIn,
    TimeMachineError,
    Unavailable,
)
from timemachine.core.pure.log_context import current, with_request_id
from timemachine.core.pure.single_values import check_once_each
from timemachine.core.routes import route_of
from timemachine.web.http import is_by_htmx

log = logging.getLogger(__name__)
_NOTHING_SAVED = "Reload the page in a moment. Nothing was partially saved."
_CODE: Final = re.compile(r"`([^`\n]+)`")
"""How messages write a name of the API, a value or a command."""
_NOT_SO = 405
_FOR_PROGRAMS = ("/api/", "/v1/")
_SEVERAL = frozenset({"run", "session"})
"""Query parameters that can occur more than once: runs and sessions to compare."""
_TRANSCRIPT_LISTS = frozenset({"significance", "role", "kind", "tag"})
"""Query parameters of a transcript that can occur more than once."""
_ONLY_SENT = "This URL accepts only form submissions. Go back to the page with the form."
_ONLY_READ = "This URL accepts no form submissions. Go back, reload the page and try again."
TITLES = {
    400: "Invalid request",
    401: "Please sign in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    422: "Invalid input",
    429: "Too many requests",
    502: "The model failed",
    503: "Not available",
}


class ErrorPages:
    """Turns an error raised by a view into a page with its status and its sentence."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == _NOT_SO and not response.content:
            return not_so(request, response)
        return response

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        """Refuse duplicate query parameters, except those of forms with multiple choices."""
        if request.method not in {"GET", "HEAD"} or request.path_info.startswith(_FOR_PROGRAMS):
            return None
        try:
            match = request.resolver_match
            is_transcript = match is not None and str(match.url_name).startswith("transcript")
            check_once_each(request.GET.lists(), _TRANSCRIPT_LISTS if is_transcript else _SEVERAL)
        except InvalidInput as why:
            return error_page(request, why.status, page_message(why))
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return a page for our own errors; any other error is left to Django."""
        if isinstance(error, NotSignedIn):
            return sign_in_first(request, error)
        if isinstance(error, NotAllowed) and error.code == "needs_second_factor":
            return set_up_first(request, error)
        failure = failure_of(error)
        if failure:
            return failure_page(request, failure)
        if not isinstance(error, TimeMachineError):
            return None
        if error.code == "session_deleted":
            return deleted_session(request, error)
        response = error_page(request, error.status, page_message(error))
        return waiting(response, error)


def sign_in_first(request: HttpRequest, error: NotSignedIn) -> HttpResponse:
    """Redirect to the sign-in page and back; a submitted form is not kept, so it gets a page that says to send it again."""
    if is_by_htmx(request):
        return HttpResponseClientRedirect(_sign_in_address(_page_of(request)))
    if request.method in {"GET", "HEAD"}:
        return redirect(_sign_in_address(request.get_full_path(), again=error.code == "sign_in_again"))
    return error_page(request, error.status, page_message(error))


def set_up_first(request: HttpRequest, error: NotAllowed) -> HttpResponse:
    """Redirect to where a second factor is set up; a submitted form is not kept, so it gets a page that says why."""
    address = reverse("second_factor")
    if is_by_htmx(request):
        return HttpResponseClientRedirect(address)
    if request.method in {"GET", "HEAD"}:
        return redirect(address)
    return error_page(request, error.status, page_message(error))


def not_so(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Answer a wrong method: redirect to the page with the form if there is one, else show an error page."""
    reading = request.method in {"GET", "HEAD"}
    form = form_page_of(request) if reading else None
    if form:
        return redirect(form)
    page = error_page(request, _NOT_SO, _ONLY_SENT if reading else _ONLY_READ)
    page["Allow"] = response["Allow"]
    return page


def waiting(response: HttpResponse, error: TimeMachineError) -> HttpResponse:
    """Return the response with a Retry-After header, if the error has a waiting time."""
    if "retry_after_seconds" in error.facts:
        response["Retry-After"] = str(ceil(error.facts["retry_after_seconds"]))
    return response


def page_message(error: TimeMachineError, labels: Mapping[str, str] | None = None) -> str:
    """Return the message of an error as pages show it, see `page_text`."""
    return page_text(error.message, labels)


def page_text(text: str, labels: Mapping[str, str] | None = None) -> str:
    """Return a sentence as pages show it: in quotation marks instead of backticks, and fields by their `labels`."""
    labels = labels or {}
    return _CODE.sub(lambda code: f"“{labels.get(code[1], code[1])}”", text)


def error_page(request: HttpRequest, status: int, message: str) -> HttpResponse:
    """Return the page of an error: what failed, and what to do."""
    title = TITLES.get(status, "Something went wrong")
    facts = {
        "status": status,
        "title": title,
        "message": message,
        "request_id": current().request_id,
        "without_alerts": True,
    }
    return render(request, "errors/error.html", facts, status=status)


def deleted_session(request: HttpRequest, error: TimeMachineError) -> HttpResponse:
    """Return the page of a deleted session: when, by whom and why it was deleted, what remains, and its log entry."""
    facts = dict(error.facts) | {"at": parse_time(error.facts["deleted"]["at"])}
    shown = {
        "status": error.status,
        "title": "This session was deleted",
        "gone": facts,
        "without_alerts": True,
    }
    return render(request, "errors/deleted_session.html", shown, status=error.status)


def failure_page(request: HttpRequest, failure: Failure) -> HttpResponse:
    """Return the page for a failure of the database or a disk; it makes no queries, not even for the signed-in person."""
    log.error("%s %s failed (%s): %s", request.method, route_of(request), failure.code, failure.details)
    facts = {
        "status": Unavailable.status,
        "title": TITLES[Unavailable.status],
        "message": page_text(f"{failure.cause} {_NOTHING_SAVED}"),
        "request_id": current().request_id,
        "project": None,
        "messages": (),
    }
    response = render(request, "errors/database_unavailable.html", facts, status=Unavailable.status)
    response["Retry-After"] = str(failure.retry_after_seconds)
    return response


def _sign_in_address(back_to: str, *, again: bool = False) -> str:
    return reverse("sign_in", query={"next": back_to} | ({"again": "1"} if again else {}))


def _page_of(request: HttpRequest) -> str:
    # A part is requested by a page, and that page is where the person wants to return.
    page = urlsplit(request.headers.get("HX-Current-URL", ""))
    return urlunsplit(("", "", page.path or "/", page.query, ""))


def not_understood(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """Return the 400 page for requests that Django refuses to read."""
    return error_page(
        request, 400, "The server cannot read this request. Go back, reload the page and try again."
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """Return the 403 page for requests that Django refuses."""
    return error_page(request, 403, "This is not allowed. Ask an administrator of the project.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # Django's form
    """Return the 404 page, the same for missing things and for those of other projects; JSON under `/api/`."""
    if request.path.startswith("/api/"):
        missing = NotFound("There is no such API endpoint. See /api/docs for the list.")
        return JsonResponse(with_request_id(missing.as_json()), status=missing.status)
    return error_page(request, 404, "This page does not exist, or it belongs to another project.")


def refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return the page for a form whose CSRF token is missing or stale."""
    log.info("a form was refused: %s", reason)
    return error_page(request, 403, "This form has expired. Go back, reload the page and submit it again.")


def broken(request: HttpRequest) -> HttpResponse:
    """Return the 500 page; if the database or a disk failed, before or after the view, the page for that."""
    failure = failure_of(sys.exception())
    if failure:
        return failure_page(request, failure)
    return error_page(
        request, 500, "Internal error. Details are in the server's log. Nothing was partially saved."
    )


_FORMS: Final = {
    "prepare_forgetting": ("retention", "together"),
    "make_pattern_rule": ("patterns", "rules"),
    "settings_you": ("settings", "you"),
    "settings_password": ("settings", "you"),
    "settings_sign_out_others": ("settings", "browsers"),
    "settings_need_second_factor": ("settings", "members"),
    "add_passkey": ("second_factor", ""),
    "new_recovery_codes": ("second_factor", ""),
    "settings_project": ("settings", "project"),
    "settings_new_project": ("settings", "project"),
    "settings_invite": ("settings", "members"),
    "settings_make_key": ("settings", "keys"),
    "settings_key_lifetime": ("settings", "keys"),
    "compression_rule": ("settings", "compression"),
    "set_evidence_anchors": ("evidence_key", ""),
    "settings_test_model": ("settings_models", ""),
    "settings_set_provider_key": ("settings_models", "keys"),
    "settings_add_model_server": ("settings_models", "servers"),
}
_FORMS_OF_ONE: Final = {
    "work_put": ("work", ""),
    "work_upload": ("work", ""),
    "put_passage": ("collection", ""),
    "upload_passages": ("collection", ""),
    "update_frame": ("frame", ""),
    "confirm_forgetting": ("forgetting", ""),
    "release_hold": ("hold", ""),
    "confirm_erasure": ("erasure", ""),
    "summarise": ("significance", "summary"),
    "compress_session": ("significance", "compression"),
}


def form_page_of(request: HttpRequest) -> str | None:
    """Return the URL of the page with the form that is submitted here, or None if unknown."""
    match = request.resolver_match
    name = match.url_name if match else None
    if match is None or name is None:
        return None
    if name in _FORMS_OF_ONE:
        page, part = _FORMS_OF_ONE[name]
        return _with_part(reverse(page, kwargs=match.kwargs), part)
    if name in _FORMS:
        page, part = _FORMS[name]
        return _with_part(reverse(page), part)
    return None


def _with_part(address: str, part: str) -> str:
    return f"{address}#{part}" if part else address
