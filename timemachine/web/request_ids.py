"""Each request has an id: from a proxy that sends one, else a new one. It is in the answer, in log lines, and in jobs."""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

from django.conf import settings
from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from timemachine.core.pure.log_context import HEADER, begin_request, end_request
from timemachine.core.routes import route_of

log = logging.getLogger("timemachine.requests")


class RequestIds:
    """Middleware: choose the id of the request, and log the request if `LOG_REQUESTS` is set."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = monotonic()
        request_id = begin_request(request.headers.get(HEADER))
        response = self.get_response(request)
        response[HEADER] = request_id
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
