"""A session told again over HTTP: whole, or the part that matters."""

from typing import Literal

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query
from pydantic import Field

from timemachine.api import routers
from timemachine.api.access import caller
from timemachine.api.described import file_answer
from timemachine.api.schemas import Strict
from timemachine.base.errors import InvalidInput
from timemachine.base.faithful import storable
from timemachine.memory.telling import FORMS, in_pieces
from timemachine.memory.transcript import Asked, transcript_of
from timemachine.recording.queries import session_of
from timemachine.recording.vocabulary import KINDS, ROLES, SIGNIFICANCES


class TranscriptFilter(Strict):
    """Which turns are told, and as what; several words of one field stand with commas between them."""

    form: Literal["json", "text", "messages"] = Field("json", alias="as")
    significance: str = ""
    role: str = ""
    kind: str = ""
    tag: str = ""
    min_importance: float | None = Field(None, ge=0, le=1)
    budget: int | None = Field(None, ge=1, le=2**31)

    def asked(self) -> Asked:
        """The same with its words apart. Raises `InvalidInput` for one that there is not."""
        return Asked(
            significances=_words("significance", self.significance, SIGNIFICANCES),
            roles=_words("role", self.role, ROLES),
            kinds=_words("kind", self.kind, KINDS),
            tags=tuple(storable(each) for each in _apart(self.tag)),
            min_importance=self.min_importance,
            budget=self.budget,
        )


@routers.sessions.get(
    "/{session_id}/transcript",
    tags=["memory"],
    summary="A session told again, in order",
    openapi_extra=file_answer("application/json", "text/plain; charset=utf-8"),
)
def transcript(
    request: HttpRequest, session_id: str, wanted: Query[TranscriptFilter]
) -> StreamingHttpResponse:
    """Every turn in its order, at any length, or those that are asked for: by significance, role, kind, tag, least importance.

    `budget` is how many tokens there may be: the most important turns that fit, in their order. `as` is `json` (the turns as they were
    recorded), `text` (for a prompt) or `messages` (for a chat model). It says how many turns and tokens of those recorded are told, and
    marks where turns are left out.
    """
    session = session_of(caller(request, "read").project, session_id)
    media_type, write = FORMS[wanted.form]
    found = transcript_of(session, wanted.asked())
    answer = StreamingHttpResponse(in_pieces(write(found)), content_type=media_type)
    answer["Cache-Control"] = "private, no-store"
    return answer


def _words(field: str, given: str, known: tuple[str, ...]) -> tuple[str, ...]:
    found = _apart(given)
    for word in found:
        if word not in known:
            raise InvalidInput(
                f"`{field}` cannot be {word[:80]!r}; it is one or more of {', '.join(known)}, with commas between them.",
                code="invalid_field",
                field=field,
            )
    return found


def _apart(given: str) -> tuple[str, ...]:
    return tuple(word for each in given.split(",") if (word := each.strip()))
