"""`/metrics`: with the token, or from this machine if there is none."""

import hmac
import os
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from timemachine.web.metrics.installation import Installation
from timemachine.web.metrics.requests import OF_THIS_PROCESS
from timemachine.web.row_security import for_every_project

_FORWARDED: Final = ("X-Forwarded-For", "Forwarded", "X-Real-IP")
_INSTALLATION: Final = Installation()
_NOT_HERE: Final = "Metrics are only for this machine. To read them from another one, set METRICS_TOKEN and send it as a bearer token.\n"
_WRONG_TOKEN: Final = "Send METRICS_TOKEN as a bearer token.\n"  # noqa: S105  # it is the message


@never_cache
@require_safe
@for_every_project
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with all metrics in Prometheus's text format."""
    if settings.METRICS_TOKEN:
        if not _has_token(request):
            refused = HttpResponse(_WRONG_TOKEN, status=401, content_type="text/plain")
            refused["WWW-Authenticate"] = "Bearer"
            return refused
    elif not _is_from_here(request):
        return HttpResponse(_NOT_HERE, status=403, content_type="text/plain")
    return HttpResponse(
        b"".join(generate_latest(each) for each in _registries()), content_type=CONTENT_TYPE_LATEST
    )


def _registries() -> tuple[CollectorRegistry, CollectorRegistry]:
    """Return the requests of all web processes, and the installation."""
    installation = CollectorRegistry()
    installation.register(_INSTALLATION)
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return OF_THIS_PROCESS, installation
    requests = CollectorRegistry()
    MultiProcessCollector(requests)  # type: ignore[no-untyped-call]  # it registers itself
    return requests, installation


def _has_token(request: HttpRequest) -> bool:
    word, _, sent = request.headers.get("Authorization", "").partition(" ")
    is_right = hmac.compare_digest(sent.strip().encode(), settings.METRICS_TOKEN.encode())
    return word.lower() == "bearer" and is_right


def _is_from_here(request: HttpRequest) -> bool:
    """Return whether a program on this machine asks. A proxy on this machine asks for others, so none may be in use."""
    behind_proxy = settings.SECURE_PROXY_SSL_HEADER is not None or any(
        name in request.headers for name in _FORWARDED
    )
    return not behind_proxy and _is_local(settings.PUBLIC_URL) and _is_loopback(request)


def _is_local(url: str) -> bool:
    return urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}


def _is_loopback(request: HttpRequest) -> bool:
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
