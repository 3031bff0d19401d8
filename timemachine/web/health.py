"""Health checks: liveness and readiness."""

from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from timemachine.core.database import failure_of
from timemachine.core.pure.database_failures import AWAY


@require_safe
def live(_request: HttpRequest) -> JsonResponse:
    """Answer if this process is alive."""
    return JsonResponse({"status": "live"})


@require_safe
def ready(_request: HttpRequest) -> JsonResponse:
    """Answer whether this process can reach its database."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError) as why:
        failure = failure_of(why) or AWAY
        return JsonResponse({"status": "not ready", "code": failure.code, "why": failure.cause}, status=503)
    return JsonResponse({"status": "ready"})
