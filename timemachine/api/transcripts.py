"""A session told again over HTTP: whole, or the part that matters."""

from typing import Literal

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query
from pydantic import Field

from timemachine.api import routers
from timemachine.api.access import caller
from timemachine.api.described import file_answer
from timemachine.core.pure.schemas import Strict
from timemachine.memory.transcripts.options import MOST_TOKENS, asked_for
from timemachine.memory.transcripts.rendering import sent
from timemachine.memory.transcripts.transcript import transcript_of
from timemachine.recording.sessions.queries import session_of


class TranscriptFilter(Strict):
    """Which turns are told, and as what; several words of one field stand with commas between them."""

    form: Literal["json", "text", "messages"] = Field("json", alias="as")
    significance: str = ""
    role: str = ""
    kind: str = ""
    tag: str = ""
    min_importance: float | None = Field(None, ge=0, le=1)
    budget: int | None = Field(None, ge=1, le=MOST_TOKENS)


@routers.sessions.get(
    "/{session_id}/transcript",
    tags=["memory"],
    summary="A session told again, in order",
    openapi_extra=file_answer("application/json", "text/plain; charset=utf-8"),
)
def transcript(
    request: HttpRequest, session_id: str, wanted: Query[TranscriptFilter]
) -> StreamingHttpResponse:
    """Every turn in its order, at any length, or those that are asked for: by significance, role, kind, tag, least importance. `assistant` and `model` are the
    role `agent`, `human` is `user` and `developer` is `system`.

    `budget` is how many tokens there may be: the most important turns that fit, in their order. `as` is `json` (the turns as they were
    recorded), `text` (for a prompt) or `messages` (for a chat model). It says how many turns and tokens of those recorded are told, and
    in `tokens.marks` how many more the marks in the text take, which are in the budget: `kept` and `marks` together are no more than it, except that where no
    turn fits the one mark that says so stands alone. It marks where turns are left out. Where it cannot be told to its end, its last line says `cut off`, with which no JSON is whole.
    """
    session = session_of(caller(request, "read").project, session_id)
    return sent(transcript_of(session, asked_for(**wanted.model_dump(exclude={"form"}))), wanted.form)
