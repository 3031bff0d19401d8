"""The transcript of a session: all turns as text for an agent, or only the important ones."""

from itertools import islice
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import whole_number
from timemachine.governance.deletion.erasure.queries import has_marks
from timemachine.knowledge.embedding.wordllama import TOKENIZER_NAME
from timemachine.memory.transcripts.options import turn_filter
from timemachine.memory.transcripts.rendering import FORMS, streamed
from timemachine.memory.transcripts.transcript import TurnFilter, transcript_of
from timemachine.recording.importing.exporting import EXPORTS
from timemachine.recording.importing.exporting import sent as sent_export
from timemachine.recording.sessions.pure.vocabulary import DEFAULT_IMPORTANCE, ROLES
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import Access, get_view
from timemachine.web.http import page
from timemachine.web.sessions.presenters.turn_lines import turn_lines

SHOWN: Final = 200
"""Number of turns on a page."""
LONGEST: Final = 4_000
"""Number of characters of a turn that are shown."""
_WORDS: Final = ("significance", "role", "kind", "tag")
_NUMBERS: Final = ("min_importance", "budget")
LONG: Final = 20_000
"""From this number of steps, the page warns that the download takes a while."""


@get_view()
def transcript(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/transcript/`: the matching turns, `SHOWN` of them after the step `after`, and their share of the session."""
    session = session_of(access.project, id)
    here = _written(request)
    wrong, chosen = None, TurnFilter()
    try:
        chosen = turn_filter(**here)
        here["role"] = ",".join(chosen.role)
        after = _after(request)
    except InvalidInput as why:
        wrong, chosen, after = why, TurnFilter(), 0
    found = transcript_of(session, chosen)
    turns = list(islice(found.turns(after), SHOWN + 1))
    shown = turn_lines(turns[:SHOWN], LONGEST)
    context: dict[str, object] = {
        "session": session,
        "found": found,
        "lines": shown,
        "marks": has_marks(session),
        "more": shown[-1].turn.sequence if len(turns) > SHOWN else None,
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


@get_view()
def file(request: HttpRequest, access: Access, id: str, form: str) -> StreamingHttpResponse:
    """`/sessions/{id}/transcript/{form}`: the transcript as a download."""
    session = session_of(access.project, id)
    if form not in FORMS:
        raise Http404
    answer = streamed(transcript_of(session, turn_filter(**_written(request))), form)
    ending = "txt" if form == "text" else "json"
    answer["Content-Disposition"] = f'attachment; filename="{session.key}-{form}.{ending}"'
    return answer


def _written(request: HttpRequest) -> dict[str, str]:
    words = {name: ",".join(filter(None, request.GET.getlist(name))) for name in _WORDS}
    return words | {name: request.GET.get(name, "").strip() for name in _NUMBERS}


def _after(request: HttpRequest) -> int:
    after = whole_number(request.GET.get("after", "0"))
    if after is None:
        raise InvalidInput("Invalid page. The transcript starts at the first step.", code="unknown_after")
    return after


@get_view()
def exports(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/export/`: the formats, each with a download link."""
    session = session_of(access.project, id)
    context = {"session": session, "exports": list(EXPORTS.values()), "long": session.last_sequence >= LONG}
    return page(request, "sessions/export.html", context)


@get_view()
def export_file(_request: HttpRequest, access: Access, id: str, format_name: str) -> StreamingHttpResponse:
    """`/sessions/{id}/export/{format}`: the session up to now."""
    return sent_export(session_of(access.project, id), format_name)
