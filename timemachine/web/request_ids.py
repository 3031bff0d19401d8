"""Each request has an id: from a proxy that sends one, else a new one. It is in the answer, in log lines, and in jobs.

The request is also traced, if an operator wants that.
"""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from django.conf import settings
from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from timemachine.core.pure.log_context import HEADER, begin_request, end_request
from timemachine.core.routes import route_of
from timemachine.core.tracing import REQUEST, span

log = logging.getLogger("timemachine.requests")
_FAULTS: Final = 500
_NOT_TRACED: Final = ("/health/", "/metrics", "/v1/")
"""What monitors ask, and spans that are received: those of this server may be sent to itself."""


class RequestIds:
    """Middleware: choose the id of the request, trace it, and log it if `LOG_REQUESTS` is set."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = begin_request(request.headers.get(HEADER))
        if request.path_info.startswith(_NOT_TRACED):
            response = self._logged(request)
        else:
            response = self._traced(request, request_id)
        response[HEADER] = request_id
        return response

    def _traced(self, request: HttpRequest, request_id: str) -> HttpResponseBase:
        with span(str(request.method), REQUEST, request.headers) as described:
            response = self._logged(request)
            described.name = f"{request.method} {route_of(request)}"
            described.failed = response.status_code >= _FAULTS
            described.attributes = {
                "http.request.method": str(request.method),
                "http.route": route_of(request),
                "http.response.status_code": response.status_code,
                "timemachine.request_id": request_id,
            }
        return response

    def _logged(self, request: HttpRequest) -> HttpResponseBase:
        began = monotonic()
        response = self.get_response(request)
        if settings.LOG_REQUESTS:
            _log(request, response, monotonic() - began)
        return response


@receiver(request_finished)
def _end(**_: Any) -> None:
    """Forget the id once the answer was sent: the thread waits for another request."""
    end_request()


def _log(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    facts = {
        "method": request.method,
        "route": route_of(request),
        "status": response.status_code,
        "milliseconds": round(seconds * 1000),
    }
    log.info("%s %s %s in %s ms", *facts.values(), extra={"facts": facts})
