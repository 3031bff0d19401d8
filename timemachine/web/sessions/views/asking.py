"""Ask from the workbench, stream the answer to a script, and cancel a running ask."""

from collections.abc import Callable, Iterator
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.safe_text import shown
from timemachine.core.pure.server_sent import KEEP_ALIVE, MEDIA_TYPE, event_bytes
from timemachine.knowledge.find import FindResult
from timemachine.llm.pure.cancellation import Listening, RetryWait
from timemachine.recording.answering import running_asks
from timemachine.recording.answering.commands import AskDone, AskObserver
from timemachine.recording.answering.streaming import AskEvent, Begun, Quiet, Written, after_start, ask_events
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import of
from timemachine.web.redirects import see_other

type Make = Callable[[AskObserver], AskDone]
type Address = Callable[[int | None], str]


def asked(
    request: HttpRequest, session: Session, question: str, make: Make, address: Address
) -> HttpResponse:
    """Ask, and redirect to the recorded step; for a script, stream the events until then."""
    if MEDIA_TYPE in request.headers.get("Accept", ""):
        told = after_start(ask_events(session.project, question, make, session=session))
        return _stream(session, told, address)  # type: ignore[return-value]  # its content has another form
    with running_asks.active_ask(session.project, question, session=session) as mine:
        done = make(AskObserver(listening=Listening(cancellation=mine.cancellation), ask=mine.id))
    return see_other(address(done.sequence), part="done")


@never_cache
@require_POST
def cancel(request: HttpRequest, id: str, ask: UUID) -> HttpResponse:  # noqa: A002
    """Cancel an ask of this session."""
    access = of(request)
    access.require(OPERATOR)
    session = session_of(access.project, id)
    running_asks.cancel(access.project, ask)
    messages.success(request, "The ask is being cancelled. Reload the page to see what was recorded.")
    return see_other("work", session.id)


def _stream(session: Session, told: Iterator[AskEvent], address: Address) -> StreamingHttpResponse:
    headers = {"X-Accel-Buffering": "no"}
    events = (_event(session, happening, address) for happening in told)
    return StreamingHttpResponse(events, content_type=MEDIA_TYPE, headers=headers)


def _event(session: Session, happening: AskEvent, address: Address) -> bytes:
    match happening:
        case Quiet():
            return KEEP_ALIVE
        case Begun():
            return event_bytes("begun", {"cancel": reverse("cancel_ask", args=[session.id, happening.id])})
        case FindResult():
            return event_bytes("found", {"says": f"{counted(len(happening.hits), 'passage')} found."})
        case RetryWait():
            return event_bytes("waiting", {"says": shown(happening.message)})
        case Written():
            return event_bytes("text", {"text": shown(happening.text)})
    return _end(happening, address)


def _end(outcome: AskDone | TimeMachineError, address: Address) -> bytes:
    if isinstance(outcome, AskDone):
        says = f"The answer is complete, recorded as step {outcome.sequence:,}."
        return event_bytes("end", {"says": says, "address": address(outcome.sequence)})
    sequence = outcome.facts.get("sequence")
    where = None if sequence is None else address(sequence)
    return event_bytes("end", {"says": shown(outcome.message), "address": where, "failed": True})
