"""Requests for host names that are not ours are refused, on every address, before anything else reads them."""

from collections.abc import Callable
from typing import Final

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.log_context import with_request_id

_FOR_PROGRAMS: Final = ("/api/", "/v1/")
_WHY: Final = (
    "This server does not respond to this host name. Use the address that its operator gave you. "
    "The operator lists the host names in ALLOWED_HOSTS."
)


class UnknownHost(InvalidInput):
    """The `Host` header names a host that is not in `ALLOWED_HOSTS`."""

    status = 400
    default_code = "unknown_host"


class AllowedHosts:
    """Middleware: refuse a request whose host is not in `ALLOWED_HOSTS`, such as a name that a foreign site points to this machine (DNS rebinding)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            request.get_host()
        except DisallowedHost:
            return _refused(request)
        return self.get_response(request)


def _refused(request: HttpRequest) -> HttpResponse:
    if request.path_info.startswith(_FOR_PROGRAMS):
        error = UnknownHost(_WHY)
        return JsonResponse(with_request_id(error.as_json()), status=error.status)
    return HttpResponse(_WHY, status=UnknownHost.status, content_type="text/plain; charset=utf-8")
