"""Counts requests. With several processes, the library shares the counts through files (`PROMETHEUS_MULTIPROC_DIR`)."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

from timemachine.core.replica import replica_read
from timemachine.core.routes import route_of

disable_created_metrics()  # type: ignore[no-untyped-call]  # several processes have none either
OF_THIS_PROCESS: Final = CollectorRegistry()
_METHODS: Final = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_COUNT: Final = Counter(
    "timemachine_http_requests_total",
    "Requests that were answered.",
    ("method", "route", "status"),
    registry=OF_THIS_PROCESS,
)
_SECONDS: Final = Histogram(
    "timemachine_http_request_seconds",
    "Seconds until the answer to a request began.",
    ("route",),
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=OF_THIS_PROCESS,
)


_READS: Final = Counter(
    "timemachine_replica_reads_total",
    "Reads that the replica could answer, by what answered them and why.",
    ("answered_by",),
    registry=OF_THIS_PROCESS,
)


@receiver(replica_read, weak=False)
def count_read(answered_by: str, **_: object) -> None:
    """Count a read."""
    _READS.labels(answered_by).inc()


class RequestMetrics:
    """Middleware: count the requests by route and status, and measure how long they take."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = monotonic()
        response = self.get_response(request)
        method = request.method if request.method in _METHODS else "other"
        route = route_of(request)
        _COUNT.labels(method, route, response.status_code).inc()
        _SECONDS.labels(route).observe(monotonic() - began)
        return response
