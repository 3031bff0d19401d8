"""The transcript of a session: all turns as text for an agent, or only the important ones."""

from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_safe

from timemachine.core.pure.errors import InvalidInput
from timemachine.governance.deletion.erasure.queries import has_marks
from timemachine.knowledge.embedding.wordllama import TOKENIZER_NAME
from timemachine.memory.transcripts.options import turn_filter
from timemachine.memory.transcripts.rendering import FORMS, streamed
from timemachine.memory.transcripts.transcript import SelectedTurn, TurnFilter, transcript_of
from timemachine.recording.sessions.pure.turn_text import Deleted, content_of, who_of
from timemachine.recording.sessions.pure.vocabulary import DEFAULT_IMPORTANCE, ROLES
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import of
from timemachine.web.http import page

SHOWN: Final = 200
"""Number of turns on a page."""
LONGEST: Final = 4_000
"""Number of characters of a turn that are shown."""
LONGEST_NUMBER: Final = 18
_WORDS: Final = ("significance", "role", "kind", "tag")
_NUMBERS: Final = ("min_importance", "budget")


@dataclass(frozen=True, slots=True)
class _Line:
    """A turn on the page."""

    sequence: int
    who: str
    significance: str | None
    text: str
    cut: bool
    left_out: int
    deleted: Deleted | None


@require_safe
def transcript(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/transcript/`: the matching turns, `SHOWN` of them after the step `after`, and their share of the session."""
    session = session_of(of(request).project, id)
    here = _written(request)
    wrong, asked = None, TurnFilter()
    try:
        asked = turn_filter(**here)
        here["role"] = ",".join(asked.roles)
        after = _after(request)
    except InvalidInput as why:
        wrong, asked, after = why, TurnFilter(), 0
    found = transcript_of(session, asked)
    told = list(islice(found.turns(after), SHOWN + 1))
    shown = [_line(each) for each in told[:SHOWN]]
    context: dict[str, Any] = {
        "session": session,
        "found": found,
        "lines": shown,
        "marks": has_marks(session),
        "more": shown[-1].sequence if len(told) > SHOWN else None,
        "after": after,
        "here": here,
        "chosen": here["significance"].split(","),
        "wrong": wrong,
        "significances": [(word, weight) for word, weight in DEFAULT_IMPORTANCE.items()],
        "roles": ROLES,
        "tokenizer": TOKENIZER_NAME,
        "query": request.GET.urlencode(),
    }
    return page(request, "sessions/transcript.html", context)


@require_safe
def file(request: HttpRequest, id: str, form: str) -> StreamingHttpResponse:  # noqa: A002
    """`/sessions/{id}/transcript/{form}`: the transcript as a download."""
    session = session_of(of(request).project, id)
    if form not in FORMS:
        raise Http404
    answer = streamed(transcript_of(session, turn_filter(**_written(request))), form)
    ending = "txt" if form == "text" else "json"
    answer["Content-Disposition"] = f'attachment; filename="{session.key}-{form}.{ending}"'
    return answer


def _written(request: HttpRequest) -> dict[str, str]:
    """Return the parameters as they were written."""
    words = {name: ",".join(filter(None, request.GET.getlist(name))) for name in _WORDS}
    return words | {name: request.GET.get(name, "").strip() for name in _NUMBERS}


def _after(request: HttpRequest) -> int:
    written = request.GET.get("after", "0")
    if not (written.isascii() and written.isdecimal() and len(written) <= LONGEST_NUMBER):
        raise InvalidInput("Invalid page. The transcript starts at the first turn.", code="unknown_after")
    return int(written)


def _line(told: SelectedTurn) -> _Line:
    turn = told.turn
    text = content_of(turn)
    return _Line(
        sequence=turn.sequence,
        who=who_of(turn),
        significance=turn.significance if turn.significance != "normal" else None,
        text=text[:LONGEST],
        cut=len(text) > LONGEST,
        left_out=told.left_out,
        deleted=turn.deleted,
    )
