"""The audit log reads from which address a request came, and who sent it."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from timemachine.core.audit.caller import request_by
from timemachine.web.access import address_of


class Callers:
    """Middleware: keep the address of the request for the audit log. Authentication adds the actor."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with request_by(address_of(request)):
            return self.get_response(request)
