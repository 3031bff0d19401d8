"""Asking over HTTP: an answer as one document or as a stream of events, what is under way, and ending it."""

from collections.abc import Callable, Iterator
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router

from timemachine.api import schemas
from timemachine.api.access import caller
from timemachine.api.described import JSON, file_answer
from timemachine.api.documents import ask_json, findings_json
from timemachine.api.once import request_hash
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.server_sent import KEEP_ALIVE, MEDIA_TYPE, event_bytes
from timemachine.knowledge.find import Findings
from timemachine.llm.pure.cancellation import Listening, Waiting
from timemachine.recording.answering.commands import AskDone, Audience
from timemachine.recording.answering.idempotency import claimed, earlier_answer, keeping, let_go
from timemachine.recording.answering.running_asks import asks_of, cancel, under_way
from timemachine.recording.answering.streaming import Begun, Happening, Quiet, Written, happenings, once_begun
from timemachine.recording.sessions.models import Session

MOST_LISTED = 200
TOLD: Final = file_answer(JSON, MEDIA_TYPE)
"""An ask is answered with a document or with events."""
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

router = Router(tags=["ask"])


@router.get("", summary="List asks under way")
def index(request: HttpRequest) -> dict[str, Any]:
    """The project's asks whose model has not answered yet, the oldest first."""
    found = asks_of(caller(request, "read").project).select_related("session")[:MOST_LISTED]
    items = [
        {
            "id": str(ask.id),
            "session": ask.session.key if ask.session else None,
            "question": ask.question,
            "started_at": written(ask.started_at),
            "cancel_wanted": ask.cancel_wanted_at is not None,
        }
        for ask in found
    ]
    return {"items": items, "next": None}


@router.post("/{ask_id}/cancel", summary="Cancel an ask")
def cancel_ask(request: HttpRequest, ask_id: UUID) -> dict[str, Any]:
    """End an ask that is under way, also while its provider is silent; its record says so. It may have been billed."""
    cancel(caller(request, "run").project, ask_id)
    return {"id": str(ask_id), "cancel_wanted": True}


def asked(
    request: HttpRequest,
    project: Project,
    payload: schemas.AskIn,
    make: Callable[[Audience], AskDone],
    session: Session | None = None,
) -> Any:
    """What an ask is answered with: its document, or events where the request wants those."""
    if _wants_events(request, payload):
        return _stream(once_begun(happenings(project, payload.question, make, session=session)))
    with under_way(project, payload.question, session=session) as mine:
        listening = Listening(cancellation=mine.cancellation)
        return ask_json(make(Audience(listening=listening, ask=mine.id)))


def asked_once(
    request: HttpRequest,
    project: Project,
    payload: schemas.AskIn,
    make: Callable[[Audience], AskDone],
    session: Session,
    key: str | None,
) -> Any:
    """What an ask of a session is answered with; under an `Idempotency-Key` that came before, what was answered then."""
    if key is None:
        return asked(request, project, payload, make, session)
    claim = claimed(session, key, request_hash(request))
    if claim.status is not None:
        return _told_again(request, payload, earlier_answer(claim))
    try:
        return asked(request, project, payload, keeping(claim, make, ask_json), session)
    except BaseException:
        let_go(claim)
        raise


def _told_again(request: HttpRequest, payload: schemas.AskIn, answer: dict[str, Any]) -> Any:
    if not _wants_events(request, payload):
        return answer
    return StreamingHttpResponse([event_bytes("done", answer)], headers=_HEADERS, content_type=MEDIA_TYPE)


def _wants_events(request: HttpRequest, payload: schemas.AskIn) -> bool:
    return payload.stream or MEDIA_TYPE in request.headers.get("Accept", "")


def _stream(told: Iterator[Happening]) -> StreamingHttpResponse:
    return StreamingHttpResponse(map(_event, told), content_type=MEDIA_TYPE, headers=_HEADERS)


def _waiting_json(waiting: Waiting) -> dict[str, Any]:
    facts = {"why": waiting.why, "seconds": round(waiting.seconds, 3), "attempt": waiting.attempt}
    return {**facts, "message": waiting.says}


def _event(happening: Happening) -> bytes:
    return KEEP_ALIVE if isinstance(happening, Quiet) else event_bytes(*_named(happening))


def _named(happening: Begun | Findings | Waiting | Written | AskDone | TimeMachineError) -> tuple[str, Any]:
    match happening:
        case Begun():
            return "begun", {"id": str(happening.id)}
        case Findings():
            return "hits", findings_json(happening)
        case Waiting():
            return "waiting", _waiting_json(happening)
        case Written():
            return "text", {"text": happening.text}
        case AskDone():
            return "done", ask_json(happening)
    return "error", happening.as_json()
