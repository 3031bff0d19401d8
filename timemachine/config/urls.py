"""All URLs: programs under /api/ and /mcp, auditors under /share/, people everywhere else."""

from django.urls import include, path

from timemachine.api import mcp, otlp
from timemachine.api.urls import api
from timemachine.web import health
from timemachine.web.metrics.views import metrics

urlpatterns = [
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("health/workers", health.working),
    path("metrics", metrics),
    path("api/", api.urls),
    path("mcp", mcp.serve),
    path("v1/traces", otlp.receive_traces),
    path("v1/logs", otlp.receive_logs),
    path("v1/<path:signal>", otlp.only_traces_and_logs),
    path("", include("timemachine.web.urls")),
]

handler400 = "timemachine.web.errors.not_understood"
handler403 = "timemachine.web.errors.forbidden"
handler404 = "timemachine.web.errors.not_found"
handler500 = "timemachine.web.errors.broken"
