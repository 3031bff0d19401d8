"""Every address: programs under /api/, auditors under /share/, people everywhere else."""

from django.urls import include, path

from timemachine.api import traces
from timemachine.api.urls import api
from timemachine.web import health
from timemachine.web.views import demo

urlpatterns = [
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("api/", api.urls),
    path("v1/traces", traces.receive),
    path("v1/<path:signal>", traces.only_traces),
    path("", include("timemachine.web.urls_accounts")),
    path("", include("timemachine.web.urls_record")),  # before sessions: /sessions/new/ is not a session
    path("", include("timemachine.web.urls_sessions")),
    path("", include("timemachine.web.urls_forgetting")),
    path("", include("timemachine.web.urls_training")),
    path("", include("timemachine.web.urls_search")),
    path("", include("timemachine.web.urls_recall")),
    path("", include("timemachine.web.urls_patterns")),
    path("", include("timemachine.web.urls_replays")),
    path("", include("timemachine.web.urls_compare")),
    path("", include("timemachine.web.urls_comparisons")),
    path("", include("timemachine.web.urls_suites")),
    path("", include("timemachine.web.urls_costs")),
    path("", include("timemachine.web.urls_seals")),
    path("", include("timemachine.web.urls_shares")),
    path("demo/", demo.load, name="demo"),
    path("demo/remove/", demo.remove, name="remove_demo"),
]

handler400 = "timemachine.web.errors.not_understood"
handler403 = "timemachine.web.errors.forbidden"
handler404 = "timemachine.web.errors.not_found"
handler500 = "timemachine.web.errors.broken"
