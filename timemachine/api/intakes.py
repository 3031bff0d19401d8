"""Files on their way into a collection, over HTTP."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from timemachine.api.access import caller
from timemachine.api.documents import intake_json
from timemachine.recording.intake.queries import intake_of

router = Router(tags=["collections"])


@router.get("/{intake_id}", summary="One intake")
def read(request: HttpRequest, intake_id: str) -> dict[str, Any]:
    """How far a file is that was handed in, and what it came to: `status` is waiting, running, done or failed."""
    return intake_json(intake_of(caller(request, "read").project, intake_id))
