"""Sessions over HTTP: begin, read, append, put, find, ask, checkpoint, end, delete."""

from typing import Any

from django.db import transaction
from django.http import HttpRequest
from ninja import Status
from ninja.decorators import decorate_view

from timemachine.api import routers, schemas
from timemachine.api.access import Caller, caller
from timemachine.api.action_schemas import ActionsIn
from timemachine.api.asks import TOLD, asked_once
from timemachine.api.documents import find_json, session_json
from timemachine.api.forgetting_schemas import TurnErasure
from timemachine.api.once import IdempotencyKey, once, request_hash
from timemachine.api.pressure import in_a_place
from timemachine.api.puts import collection_for, frames_in, puts_json
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.core.pure.content import sha256_hex
from timemachine.core.pure.errors import InvalidInput
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.evidence.tasks import seal_session
from timemachine.governance.deletion.erasure.commands import delete_turn as delete_turn_of
from timemachine.governance.deletion.erasure.document import erasure_json
from timemachine.governance.deletion.erasure.models import DONE
from timemachine.governance.deletion.erasure.queries import erased_of
from timemachine.governance.tasks import run_erasure
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.find import Query
from timemachine.knowledge.models import Collection
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.tasks import embed_backlog
from timemachine.llm.prices import price_if_known
from timemachine.memory.tasks import index_steps
from timemachine.recording.answering import commands as answering
from timemachine.recording.answering.model_asks import CallParameters
from timemachine.recording.answering.running_asks import wait_for_asks
from timemachine.recording.answering.summaries import that_stay
from timemachine.recording.sessions import changes, commands
from timemachine.recording.sessions.branches import branch_count
from timemachine.recording.sessions.checkpoints import STATE, set_checkpoint
from timemachine.recording.sessions.checkpoints import resume as resumed
from timemachine.recording.sessions.duplicates import differing, repeated
from timemachine.recording.sessions.idempotency import Done, begun_once
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.moments import moment
from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import check_end
from timemachine.recording.sessions.queries import action_of, session_of


@routers.sessions.post("", response={201: dict[str, Any]}, summary="Start a session")
def start(
    request: HttpRequest, payload: schemas.SessionIn, idempotency_key: IdempotencyKey = None
) -> Status[dict[str, Any]]:
    """A new session that records; `collection` is made where there is none of that name.

    There is one session of a `key`, and a second one is refused (`key_taken`). The same `Idempotency-Key` again gets the session that it
    began, as it is now. One that is sent later than it happened says so by `started_at`.
    """
    who = caller(request, "record")
    if idempotency_key is None:
        return Status(201, session_json(_started(who, payload)))
    begun = begun_once(who.project, idempotency_key, request_hash(request), lambda: _started(who, payload))
    return Status(201, session_json(begun))


@routers.sessions.get("/{session_id}", summary="One session")
def read(request: HttpRequest, session_id: str) -> dict[str, Any]:
    """A session by its uuid or key."""
    return session_json(session_of(caller(request, "read").project, session_id))


@routers.sessions.patch("/{session_id}", summary="Rename or tag a session")
def change(request: HttpRequest, session_id: str, payload: schemas.SessionChange) -> dict[str, Any]:
    """Change what a session is called and how it is grouped; what it recorded stays."""
    session = session_of(caller(request, "record").project, session_id)
    return session_json(changes.describe(session, **payload.model_dump(exclude_unset=True)))


@routers.sessions.delete("/{session_id}", summary="Delete a session")
def erase(
    request: HttpRequest, session_id: str, payload: schemas.SessionErasure | None = None
) -> dict[str, Any]:
    """Delete a session with everything it recorded, its notes, replays, judgements and share links. There is no way back.

    `summaries` of it that were put into collections stay there, and are named by `collection` and `frame`; so do the `branches` that went on from it,
    whose `parent_deleted` says from which step. A body with a `reason` is kept in the tombstone that the project's log has of what was sealed.
    """
    who = caller(request, "admin")
    session = session_of(who.project, session_id)
    reason = payload.reason if payload else None
    stays, branches = that_stay(session), branch_count(session)
    actions = erase_session(session, by=who.by, reason=reason)
    return {"erased": str(session.id), "actions": actions, "branches": branches, "summaries": stays}


@routers.sessions.delete(
    "/{session_id}/actions/{sequence}",
    tags=["forgetting"],
    response={200: dict[str, Any], 202: dict[str, Any]},
    summary="Delete a turn",
)
def delete_turn(
    request: HttpRequest, session_id: str, sequence: int, payload: TurnErasure | None = None
) -> Status[dict[str, Any]]:
    """Delete all that a step says, for a `reason`: a tombstone with who, when and why stands in its place. There is no way back.

    What repeats it word for word in the session, its replays and what was made of them goes, too. The answer is the erasure: `done`, or 202
    and `erasing` where a worker is at a long session. The place, kind, times and figures stay, and the seal stays verifiable.
    """
    who = caller(request, "admin")
    session = session_of(who.project, session_id)
    step = action_of(session, sequence)
    made = delete_turn_of(step, reason=payload.reason if payload else "", by=who.by)
    if made.status != DONE:
        enqueue(run_erasure, made.id)
    return Status(200 if made.status == DONE else 202, erasure_json(made))


@decorate_view(in_a_place)
@routers.sessions.post("/{session_id}/actions", response={201: dict[str, Any]}, summary="Append actions")
def append(
    request: HttpRequest, session_id: str, payload: ActionsIn, idempotency_key: IdempotencyKey = None
) -> Status[dict[str, Any]]:
    """One action, or up to 1,000 in `actions`: all are recorded, durably and in order, or none.

    An action with an `id` that the session has is that action, and the same `Idempotency-Key` again gets the first answer: both
    may be sent again. Where one says something else than the action of its id, that one stays, and `differing` has the places in the request,
    from 0, of those that are not recorded therefore. A call that says its model and tokens and not its cost is priced. 429 (`busy`) says that nothing was recorded, and `Retry-After` when to send it again.
    """
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    drafts = payload.drafts()
    sequences = commands.append(
        session.id,
        priced(drafts, price_if_known),
        idempotency_key=idempotency_key,
        request_sha256=sha256_hex(request.body),
    )
    enqueue(index_steps, who.project.id)
    return Status(201, {"sequences": sequences, **_others(session, drafts, sequences)})


def _others(session: Session, drafts: list[ActionDraft], sequences: list[int]) -> dict[str, list[int]]:
    """Which of them came under the id of another action, where there are any; what was erased since is not compared."""
    again = repeated(session, drafts, sequences)
    erased = erased_of(session, sorted(set(again.values()))) if again else {}
    other = differing(session, drafts, {place: at for place, at in again.items() if at not in erased})
    return {"differing": other} if other else {}


@routers.sessions.post("/{session_id}/put", response={201: dict[str, Any]}, summary="Put and record it")
def put(
    request: HttpRequest,
    session_id: str,
    payload: schemas.SessionPutIn,
    idempotency_key: IdempotencyKey = None,
) -> Status[dict[str, Any]]:
    """Put passages into the session's collection; each is recorded, as of the session's agent where no `agent` is said."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    into: list[Collection] = []

    def make() -> Done:
        into.append(collection_for(who, payload.collection) if payload.collection else _own(session))
        done = answering.put(into[0], frames_in(payload), by=who.by, session=session, agent=payload.agent)
        return puts_json(done), done.sequences

    with transaction.atomic():  # a put that is refused makes no collection
        answer = once(request, session, idempotency_key, make)
    for collection in into:
        enqueue(embed_backlog, collection.id)
    return Status(201, answer)


@routers.sessions.post("/{session_id}/find", summary="Find and record it")
def find(
    request: HttpRequest,
    session_id: str,
    payload: schemas.SessionFindIn,
    idempotency_key: IdempotencyKey = None,
) -> dict[str, Any]:
    """Find passages; every hit is frozen into the record, which is the session's agent's where no `agent` is said."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)

    def make() -> Done:
        collection = _existing(session, payload.collection)
        query = find_query(who.project, payload)
        done = answering.find(collection, query, session=session, agent=payload.agent)
        return find_json(done), [] if done.sequence is None else [done.sequence]

    return once(request, session, idempotency_key, make)


@routers.sessions.post("/{session_id}/ask", summary="Ask and record it", openapi_extra=TOLD)
def ask(
    request: HttpRequest,
    session_id: str,
    payload: schemas.SessionAskIn,
    idempotency_key: IdempotencyKey = None,
) -> Any:
    """Find passages and ask a model over them; both are recorded, as of the session's agent where no `agent` is said. It may cost money: the key needs `run` too.

    With `"stream": true`, or `Accept: text/event-stream`, the answer is a stream of events: `begun` (the ask's id, by which it can
    be cancelled), `hits`, `waiting` where the model is busy and is asked again later, `text` as it is written, then `done` with the document of the answer in one piece, or `error`.
    The same `Idempotency-Key` again asks no model: it gets the first answer, in one piece, or the error that was recorded.
    """
    caller(request, "record")
    who = caller(request, "run")
    session = session_of(who.project, session_id)
    collection = _existing(session, payload.collection)
    query = ask_query(who.project, payload)

    def make(audience: answering.Audience) -> answering.AskDone:
        return answering.ask(
            who.project,
            collection,
            query,
            use_model=payload.use_model,
            parameters=call_parameters(payload),
            no_cache=payload.no_cache,
            session=session,
            agent=payload.agent,
            audience=audience,
        )

    return asked_once(request, who.project, payload, make, session, idempotency_key)


@decorate_view(in_a_place)
@routers.sessions.post(
    "/{session_id}/checkpoints", response={201: dict[str, Any]}, summary="Set a checkpoint"
)
def checkpoint(
    request: HttpRequest,
    session_id: str,
    payload: schemas.CheckpointIn,
    idempotency_key: IdempotencyKey = None,
) -> Status[dict[str, Any]]:
    """A named action that carries the agent's state, the session's where no `agent` is said; the same `Idempotency-Key` again gets the first answer."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    sequence = set_checkpoint(
        session.id,
        payload.name,
        payload.state,
        agent=payload.agent,
        idempotency_key=idempotency_key,
        request_sha256=sha256_hex(request.body),
    )
    return Status(201, {"sequence": sequence, "name": payload.name})


@routers.sessions.post("/{session_id}/resume", summary="Resume from a checkpoint")
def resume(request: HttpRequest, session_id: str, payload: schemas.ResumeIn) -> dict[str, Any]:
    """What the agent knew at a checkpoint, exactly; the last one where none is named. Nothing is recorded.

    To go on in a session of its own, start one whose `parent` is the `parent` of the answer.
    """
    session = session_of(caller(request, "read").project, session_id)
    found = resumed(session, payload.checkpoint)
    named = {name: found.state.get(name) for name in STATE}
    more = {name: each for name, each in found.state.items() if name not in STATE}
    return named | {
        "checkpoint": {"sequence": found.sequence, "name": found.name, "at": written(found.at)},
        "parent": {"session": str(session.id), "sequence": found.sequence},
        "more": more,
    }


@routers.sessions.post("/{session_id}/end", summary="End a session")
def end(request: HttpRequest, session_id: str, payload: schemas.SessionEnd | None = None) -> dict[str, Any]:
    """Close a session, once the asks that are under way in it have their record; ending it twice is the same as once.

    A body with `ended_at` says when it ended, where that was not now: not before it began.
    """
    session = session_of(caller(request, "record").project, session_id)
    ended_at = payload.ended_at if payload else None
    check_end(session.started_at, ended_at)
    wait_for_asks(session)
    commands.end_session(session.id, at=ended_at)
    enqueue(seal_session, session.id)
    return session_json(session_of(session.project, str(session.id)))


def find_query(project: Project, payload: schemas.FindIn) -> Query:
    """The query that a find's body asks."""
    return _query(project, payload.query, payload)


def ask_query(project: Project, payload: schemas.AskIn) -> Query:
    """The query that an ask's body asks."""
    return _query(project, payload.question, payload)


def _query(project: Project, text: str, payload: schemas.FindIn | schemas.AskIn) -> Query:
    return Query(
        text=text,
        mode=payload.mode,
        top_k=payload.top_k,
        adaptive=payload.adaptive,
        min_score=payload.min_score,
        relative=payload.relative,
        cliff=payload.cliff,
        as_of=moment(project, payload.as_of),
        embedding_model=payload.embedding_model,
    )


def call_parameters(payload: schemas.AskIn) -> CallParameters:
    """What an ask's body asks of the model."""
    return CallParameters(
        system_prompt=payload.system_prompt,
        temperature=payload.temperature,
        seed=payload.seed,
        max_tokens=payload.max_tokens,
    )


@transaction.atomic
def _started(who: Caller, payload: schemas.SessionIn) -> Session:
    """The session, with its collection where that is new: both or neither."""
    named = payload.collection
    return commands.start_session(
        who.project,
        by=who.by,
        name=payload.name,
        key=payload.key,
        agent=payload.agent,
        user=payload.user,
        collection=collection_for(who, named) if named else None,
        parent=_parent(who.project, payload.parent),
        metadata=payload.metadata,
        tags=payload.tags,
        started_at=payload.started_at,
    )


def _parent(project: Project, parent: schemas.ParentIn | None) -> tuple[Session, int] | None:
    if parent is None:
        return None
    session = session_of(project, parent.session)
    return session, action_of(session, parent.sequence).sequence


def _existing(session: Session, name: str | None) -> Collection:
    return collection_of(session.project, name) if name else _own(session)


def _own(session: Session) -> Collection:
    if session.collection is None:
        raise InvalidInput(
            "This session was started without a collection; name one in `collection`.",
            code="collection_needed",
        )
    return session.collection
