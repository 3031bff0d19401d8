"""Every address: programs under /api/, auditors under /share/, people everywhere else."""

from django.urls import include, path

from timemachine.web import health

urlpatterns = [
    path("health/live", health.live),
    path("health/ready", health.ready),
]
