"""Where is it, over HTTP: at which rank a frame stands at every find and ask of a session."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query
from pydantic import Field

from timemachine.api import routers
from timemachine.api.access import caller
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.runs.frame_ranks import MOST_STEPS, where
from timemachine.replay.runs.frame_ranks_document import where_json


@routers.sessions.get("/{session_id}/where", tags=["replays"], summary="Where a frame stands")
def where_is_it(
    request: HttpRequest,
    session_id: str,
    frame: Annotated[int | None, Query(), Field(ge=0, lt=2**62)] = None,
    text: str = "",
    after: Annotated[int, Query(), Field(ge=0, lt=2**62)] = 0,
    limit: Annotated[int, Query(), Field(ge=1, le=MOST_STEPS)] = MOST_STEPS,
) -> dict[str, Any]:
    """The rank of a frame (by its number), or of those that hold a sentence, in every mode, as recorded and as it is now."""
    session = session_of(caller(request, "read").project, session_id)
    return where_json(where(session, frame=frame, text=text, after=after, limit=limit))
