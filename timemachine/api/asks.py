"""Put, find and ask over HTTP: inside a session, which records them; list and cancel running asks; the answer cache."""

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router, Status

from timemachine.api.access import caller
from timemachine.api.openapi import JSON, file_answer
from timemachine.api.requests import IdempotencyKey, once, request_hash
from timemachine.api.sessions import router as sessions_router
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.server_sent import KEEP_ALIVE, MEDIA_TYPE, event_bytes
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import get_or_create_collection
from timemachine.knowledge.find import FindResult
from timemachine.knowledge.models import Collection
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.schemas.findings import FindingsOut
from timemachine.knowledge.tasks import embed_backlog
from timemachine.llm.pure.cancellation import Listening, RetryWait
from timemachine.llm.schemas import CancelOut
from timemachine.recording.answering import cache as answer_cache
from timemachine.recording.answering import commands as answering
from timemachine.recording.answering.commands import AskDone, AskObserver
from timemachine.recording.answering.idempotency import (
    claim_key,
    earlier_answer,
    release_claim,
    storing_answer,
)
from timemachine.recording.answering.running_asks import active_ask, asks_of, cancel
from timemachine.recording.answering.schemas import (
    AnswerCacheChange,
    AnswerCacheEmptied,
    AnswerCacheOut,
    AskIn,
    AskOut,
    AsksUnderWay,
    AskUnderWayOut,
    FindOut,
    PutOut,
    SessionAskIn,
    SessionFindIn,
    SessionPutIn,
)
from timemachine.recording.answering.streaming import AskEvent, Begun, Quiet, Written, after_start, ask_events
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of

MOST_LISTED = 200
ANSWERS: Final = file_answer(JSON, MEDIA_TYPE)
"""An ask is answered with a document or with events."""
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

router = Router(tags=["ask"])


@sessions_router.post("/{session_id}/put", response={201: PutOut}, summary="Put and record")
def put(
    request: HttpRequest, session_id: str, payload: SessionPutIn, idempotency_key: IdempotencyKey = None
) -> Status[PutOut]:
    """Put passages into the session's collection. Each is recorded as an action of the session's agent unless `agent` is given."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    into: list[Collection] = []

    def make() -> tuple[PutOut, list[int]]:
        named = payload.collection
        into.append(get_or_create_collection(who.project, named, by=who.by) if named else _own(session))
        done = answering.put(into[0], payload.new_frames(), by=who.by, session=session, agent=payload.agent)
        return PutOut.of(done), done.sequences

    with transaction.atomic():  # a put that is refused creates no collection
        answer = once(request, session, idempotency_key, PutOut, make)
    for collection in into:
        enqueue(embed_backlog, collection.id)
    return Status(201, answer)


@sessions_router.post("/{session_id}/find", response=FindOut, summary="Find and record", exclude_unset=True)
def find(
    request: HttpRequest, session_id: str, payload: SessionFindIn, idempotency_key: IdempotencyKey = None
) -> FindOut:
    """Find passages. Every hit is frozen into the record, as an action of the session's agent unless `agent` is given."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)

    def make() -> tuple[FindOut, list[int]]:
        collection = _existing(session, payload.collection)
        query = payload.in_project(who.project, payload.query)
        done = answering.find(collection, query, session=session, agent=payload.agent)
        return FindOut.of(done), [] if done.sequence is None else [done.sequence]

    return once(request, session, idempotency_key, FindOut, make)


@sessions_router.post(
    "/{session_id}/ask",
    response=AskOut,
    summary="Ask and record",
    openapi_extra=ANSWERS,
    exclude_unset=True,
)
def ask(
    request: HttpRequest, session_id: str, payload: SessionAskIn, idempotency_key: IdempotencyKey = None
) -> AskOut | StreamingHttpResponse:
    """Find passages and ask a model over them; both are recorded, as of the session's agent unless `agent` is given. It can cost money: the key needs `run` too.

    With `"stream": true`, or `Accept: text/event-stream`, the answer is a stream of events: `begun` (the ask's id, by which it can
    be cancelled), `hits`, `waiting` when the model is busy and will be asked again later, `text` as it is written, then `done` with the whole answer in one document, or `error`.
    The same `Idempotency-Key` again asks no model: it gets the first answer, in one piece, or the error that was recorded.
    """
    caller(request, "record")
    who = caller(request, "run")
    session = session_of(who.project, session_id)
    collection = _existing(session, payload.collection)
    query = payload.in_project(who.project, payload.question)

    def make(audience: AskObserver) -> AskDone:
        return answering.ask(
            who.project,
            collection,
            query,
            use_model=payload.use_model,
            parameters=payload.parameters(),
            no_cache=payload.no_cache,
            session=session,
            agent=payload.agent,
            observer=audience,
        )

    return _keyed_ask_response(request, who.project, payload, make, session, idempotency_key)


@router.get("", response=AsksUnderWay, summary="List running asks")
def index(request: HttpRequest) -> AsksUnderWay:
    """The project's asks whose model has not answered yet, oldest first."""
    found = asks_of(caller(request, "read").project).select_related("session")[:MOST_LISTED]
    return AsksUnderWay.model_construct(items=[AskUnderWayOut.of(ask) for ask in found], next=None)


@router.post("/{ask_id}/cancel", response=CancelOut, summary="Cancel an ask")
def cancel_ask(request: HttpRequest, ask_id: UUID) -> CancelOut:
    """End a running ask, even while its provider is not responding. Its record says that it was cancelled. It may have been billed."""
    cancel(caller(request, "run").project, ask_id)
    return CancelOut.model_construct(id=str(ask_id), cancel_wanted=True)


def ask_response(
    request: HttpRequest,
    project: Project,
    payload: AskIn,
    make: Callable[[AskObserver], AskDone],
    session: Session | None = None,
) -> AskOut | StreamingHttpResponse:
    """Return the answer to an ask: a document, or events if the request accepts them."""
    if _wants_events(request, payload):
        events = after_start(ask_events(project, payload.question, make, session=session))
        return StreamingHttpResponse(map(_event, events), headers=_HEADERS, content_type=MEDIA_TYPE)
    with active_ask(project, payload.question, session=session) as mine:
        listening = Listening(cancellation=mine.cancellation)
        return AskOut.of(make(AskObserver(listening=listening, ask=mine.id)))


def _keyed_ask_response(
    request: HttpRequest,
    project: Project,
    payload: AskIn,
    make: Callable[[AskObserver], AskDone],
    session: Session,
    key: str | None,
) -> AskOut | StreamingHttpResponse:
    """The answer to an ask of a session; if its `Idempotency-Key` was used before, the stored answer."""
    if key is None:
        return ask_response(request, project, payload, make, session)
    claim = claim_key(session, key, request_hash(request))
    if claim.status is not None:
        return _earlier(request, payload, AskOut.model_construct(**earlier_answer(claim)))
    try:
        return ask_response(request, project, payload, storing_answer(claim, make, stored), session)
    except BaseException:
        release_claim(claim)
        raise


def stored(done: AskDone) -> JsonObject:
    """An answer as it is stored for its `Idempotency-Key`."""
    return AskOut.of(done).model_dump()


def _earlier(request: HttpRequest, payload: AskIn, answer: AskOut) -> AskOut | StreamingHttpResponse:
    if not _wants_events(request, payload):
        return answer
    events = [event_bytes("done", answer.model_dump())]
    return StreamingHttpResponse(events, headers=_HEADERS, content_type=MEDIA_TYPE)


def _wants_events(request: HttpRequest, payload: AskIn) -> bool:
    return payload.stream or MEDIA_TYPE in request.headers.get("Accept", "")


def _event(happening: AskEvent) -> bytes:
    return KEEP_ALIVE if isinstance(happening, Quiet) else event_bytes(*_named(happening))


def _named(
    happening: Begun | FindResult | RetryWait | Written | AskDone | TimeMachineError,
) -> tuple[str, Any]:
    match happening:
        case Begun():
            return "begun", {"id": str(happening.id)}
        case FindResult():
            return "hits", FindingsOut.of_findings(happening).model_dump()
        case RetryWait():
            return "waiting", {
                "why": happening.why,
                "seconds": round(happening.seconds, 3),
                "attempt": happening.attempt,
                "message": happening.message,
            }
        case Written():
            return "text", {"text": happening.text}
        case AskDone():
            return "done", stored(happening)
    return "error", happening.as_json()


def _existing(session: Session, name: str | None) -> Collection:
    return collection_of(session.project, name) if name else _own(session)


def _own(session: Session) -> Collection:
    if session.collection is None:
        raise InvalidInput(
            "This session was started without a collection. Name one in `collection`.",
            code="collection_needed",
        )
    return session.collection


cache = Router(tags=["answer cache"])


@cache.get("", response=AnswerCacheOut, summary="The answer cache")
def read_cache(request: HttpRequest) -> AnswerCacheOut:
    """Whether the cache is on and since when, how many answers it holds, and their size in bytes."""
    return AnswerCacheOut.from_attributes(answer_cache.status_of(caller(request, "read").project))


@cache.patch("", response=AnswerCacheOut, summary="Turn the answer cache on or off")
def switch_cache(request: HttpRequest, payload: AnswerCacheChange) -> AnswerCacheOut:
    """While the cache is off, answers are neither read from it nor added to it. Its content is kept."""
    who = caller(request, "admin")
    answer_cache.switch(who.project, on=payload.on, by=who.by)
    return AnswerCacheOut.from_attributes(answer_cache.status_of(who.project))


@cache.delete("", response=AnswerCacheEmptied, summary="Empty the answer cache")
def empty_cache(request: HttpRequest) -> AnswerCacheEmptied:
    """Remove every answer from the cache. Recorded sessions are unchanged."""
    removed = answer_cache.empty(caller(request, "admin").project)
    return AnswerCacheEmptied.model_construct(removed=removed)
