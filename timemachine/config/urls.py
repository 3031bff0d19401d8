"""Every address: programs under /api/, auditors under /share/, people everywhere else."""

from django.urls import include, path

from timemachine.web import health

urlpatterns = [
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("", include("timemachine.web.urls_accounts")),
    path("", include("timemachine.web.urls_sessions")),
]

handler400 = "timemachine.web.errors.not_understood"
handler403 = "timemachine.web.errors.forbidden"
handler404 = "timemachine.web.errors.not_found"
handler500 = "timemachine.web.errors.broken"
