"""Put, find and ask. In a session each is recorded as an action, and the find of an ask as its child."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, TimeMachineError
from timemachine.core.pure.ids import uuid7
from timemachine.knowledge import find as finding
from timemachine.knowledge.commands import NewFrame, PutResult, put_frames
from timemachine.knowledge.find import FindResult, FrameHit, Query
from timemachine.knowledge.models import Collection
from timemachine.knowledge.queries import EmptyReason, empty_reason
from timemachine.llm.concurrency import release_connection
from timemachine.llm.prices import failed_price
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.llm.queries import usable_model
from timemachine.recording.answering import cache
from timemachine.recording.answering.model_asks import Answered, CallParameters, answer
from timemachine.recording.answering.pure.prompt import Passage
from timemachine.recording.answering.running_asks import finish_recorded, note_model_call
from timemachine.recording.sessions.commands import append, require_open
from timemachine.recording.sessions.frames import place_in_file, put_output
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.recording.sessions.pure.validation import check_head
from timemachine.recording.sessions.pure.vocabulary import PARTIAL_TEXT

log = logging.getLogger(__name__)

_FAILURE_FACTS = ("status", "attempts", "retry_after_seconds", "provider_error", "connection_error")


@dataclass(frozen=True, slots=True, kw_only=True)
class PutDone:
    """The frames that were put, and the sequences of their actions if a session recorded them."""

    puts: list[PutResult]
    sequences: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindDone:
    """The findings, the sequence of the action if a session recorded it, and `empty` if there was nothing to find."""

    findings: FindResult
    sequence: int | None
    empty: EmptyReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskDone(FindDone):
    """The answer and the findings, and what a find has."""

    answered: Answered


@dataclass(frozen=True, slots=True, kw_only=True)
class AskObserver:
    """Observes an ask: `found` gets the passages before the model is called, `listening` the answer as it is written.

    `ask` is the id of the running ask, or None.
    """

    found: Callable[[FindResult], None] = lambda _: None
    listening: Listening = field(default_factory=Listening)
    ask: UUID | None = None


@transaction.atomic
def put(
    collection: Collection,
    frames: Sequence[NewFrame],
    *,
    by: str,
    session: Session | None = None,
    agent: str | None = None,
) -> PutDone:
    """Put passages into the collection; in a session each is recorded. `agent` defaults to the session's."""
    _check(session, agent)
    started = now()
    puts = put_frames(collection, frames, by=by)
    if session is None:
        return PutDone(puts=puts, sequences=[])
    duration_ms = _milliseconds_since(started) if len(frames) == 1 else None  # unknown for one of several
    drafts = [
        replace(_put_draft(collection, frame, done), agent=agent, started_at=started, duration_ms=duration_ms)
        for frame, done in zip(frames, puts, strict=True)
    ]
    return PutDone(puts=puts, sequences=append(session.id, drafts))


def find(
    collection: Collection, query: Query, *, session: Session | None = None, agent: str | None = None
) -> FindDone:
    """Find passages; in a session the find is recorded with every hit frozen. `agent` defaults to the session's."""
    _check(session, agent)
    started = now()
    findings = finding.find(collection, query)
    empty = _emptiness(collection, findings)
    if session is None:
        return FindDone(findings=findings, sequence=None, empty=empty)
    sequence = append(session.id, [replace(_find_draft(findings, started), agent=agent)])[0]
    return FindDone(findings=findings, sequence=sequence, empty=empty)


def ask(
    project: Project,
    collection: Collection,
    query: Query,
    *,
    use_model: str = "",
    parameters: CallParameters | None = None,
    session: Session | None = None,
    agent: str | None = None,
    no_cache: bool = False,
    observer: AskObserver | None = None,
) -> AskDone:
    """Find passages and ask a model about them; in a session both are recorded, a failed call with its error.

    `agent` defaults to the session's. The same question about the same passages is answered from the project's cache,
    unless `no_cache` is set; the fresh answer then replaces the stored one.

    Raises `InvalidInput` for an unknown model or an agent that is too long and `Unavailable` for a model that cannot
    be used, before anything is done; `ModelFailed` if the call failed, with the `sequence` that records it. If the
    session ends in the meantime, the ask is still recorded; if it is erased, `NotFound` is raised.
    """
    _check(session, agent)
    model = usable_model(project.id, use_model)
    requested = parameters or CallParameters()
    started = now()
    findings = finding.find(collection, query)
    passages = [Passage(frame=hit.frame, title=hit.title, text=hit.text) for hit in findings.hits]
    observer = observer or AskObserver()
    observer.found(findings)
    try:
        key = cache.key_of(project.id, model, query.text, passages, requested)
        stored = None if no_cache else cache.cached_answer(project.id, key, passages)
        if stored is not None:
            observer.listening.on_text(stored.text)
        else:
            note_model_call(observer.ask, model)
            if model.provider != LOCAL:
                release_connection()
        answered = stored or answer(project.id, model, query.text, passages, requested, observer.listening)
    except TimeMachineError as failed:
        ask_draft = replace(_ask_draft(findings, started), agent=agent)
        draft = _as_failed(ask_draft, model, failed, requested)
        raise _with_sequence(failed, _recorded_failure(session, draft, findings, observer.ask)) from failed
    draft = _as_answered(replace(_ask_draft(findings, started), agent=agent), answered)
    sequence = _record(session, draft, findings, observer.ask)
    cache.store(key, answered, collection=collection, session=session, sequence=sequence, asked_at=started)
    empty = _emptiness(collection, findings)
    return AskDone(findings=findings, answered=answered, sequence=sequence, empty=empty)


def retrieval_draft(findings: FindResult) -> RetrievalDraft:
    """Return the findings as they are recorded."""
    return RetrievalDraft(
        collection=findings.collection,
        mode=findings.query.mode,
        top_k=findings.query.top_k,
        adaptive=findings.query.adaptive,
        cut_by=findings.cut_by,
        as_of=findings.as_of,
        embedding_model=findings.embedding_model,
        semantic_search=findings.semantic_search,
        curve=findings.curve.as_json(),
        below=findings.below.as_json() if findings.below else None,
        not_embedded=findings.not_embedded,
        thresholds=findings.thresholds.as_json() if findings.thresholds else None,
        min_score=findings.query.min_score,
        hits=tuple(_hit_draft(hit) for hit in findings.hits),
    )


def _emptiness(collection: Collection, findings: FindResult) -> EmptyReason | None:
    return None if findings.hits else empty_reason(collection, findings.as_of)


def _check(session: Session | None, agent: str | None) -> None:
    """Refuse an ended session, and anything that could not be recorded, before anything is done or a model is called."""
    check_head(agent=agent)
    if session is not None:
        require_open(session)


def _record(
    session: Session | None, draft: ActionDraft, findings: FindResult, ask_id: UUID | None
) -> int | None:
    if session is None:
        return None
    child = replace(_find_draft(findings, draft.started_at), parent=draft.id, agent=draft.agent)
    try:
        with transaction.atomic():
            recorded = append(session.id, [draft, child], was_open=True)[0]
            # after the session, in the order in which erasing locks them
            finish_recorded(ask_id)
    except NotFound as erased:
        raise NotFound(
            "The session was deleted during the ask, so nothing was recorded. The call may have been billed.",
            code="session_not_found",
        ) from erased
    return recorded


def _recorded_failure(
    session: Session | None, draft: ActionDraft, findings: FindResult, ask_id: UUID | None
) -> int | None:
    """Return the step of a failed ask; None if it cannot be recorded, because the provider's error matters more."""
    try:
        return _record(session, draft, findings, ask_id)
    except TimeMachineError as why:
        log.warning("a failed ask could not be recorded: %s", why.code)
        return None


def _put_draft(collection: Collection, frame: NewFrame, done: PutResult) -> ActionDraft:
    origin = frame.origin
    source = (
        None if origin is None else place_in_file(f"{origin.source}", frame.uri, origin.start, origin.end)
    )
    return ActionDraft(
        kind="put",
        layer="agent",
        name=frame.title or None,
        input=frame.text,
        output=put_output(collection.name, done.frame, source, already_there=done.already_there),
    )


def _find_draft(findings: FindResult, started: datetime | None) -> ActionDraft:
    return ActionDraft(
        kind="find",
        layer="agent",
        started_at=started,
        duration_ms=findings.duration_ms,
        input=findings.query.text,
        retrieval=retrieval_draft(findings),
    )


def _ask_draft(findings: FindResult, started: datetime) -> ActionDraft:
    return ActionDraft(
        kind="ask",
        id=str(uuid7()),
        layer="agent",
        started_at=started,
        duration_ms=_milliseconds_since(started),
        input=findings.query.text,
        retrieval=retrieval_draft(findings),
    )


def _as_answered(draft: ActionDraft, answered: Answered) -> ActionDraft:
    return replace(
        draft,
        output=answered.text,
        model=answered.model,
        parameters=answered.parameters,
        usage=answered.usage,
        cost_usd=answered.cost_usd,
        prices=answered.prices,
        cached=answered.cached,
        saved_usd=answered.saved_usd,
        cached_from=answered.cached_from,
        grounding=answered.grounding,
    )


def _as_failed(
    draft: ActionDraft, model: ModelName, failed: TimeMachineError, requested: CallParameters
) -> ActionDraft:
    """Return the ask with the requested parameters and what is known of the failure."""
    priced = failed_price(model, failed, now())
    partial_text = failed.facts.get(PARTIAL_TEXT)
    known = {**asdict(requested), **{name: failed.facts.get(name) for name in _FAILURE_FACTS}}
    return replace(
        draft,
        output={PARTIAL_TEXT: partial_text} if partial_text else None,
        model=str(model),
        parameters={name: value for name, value in known.items() if value is not None} or None,
        cost_usd=priced.cost_usd,
        prices=priced.prices,
        error_type=failed.code,
        error_message=failed.message,
    )


def _with_sequence(failed: TimeMachineError, sequence: int | None) -> TimeMachineError:
    """Return the error with the step that records it."""
    if sequence is None:
        return failed
    return type(failed)(failed.message, code=failed.code, **{**failed.facts, "sequence": sequence})


def _hit_draft(hit: FrameHit) -> HitDraft:
    return HitDraft(
        rank=hit.rank,
        score=hit.score,
        scores=hit.scores,
        frame=hit.frame,
        version=hit.version,
        title=hit.title or None,
        uri=hit.uri or None,
        metadata=hit.metadata or None,
        sha256=hit.sha256,
        text=hit.text,
        matched=hit.matched.as_json(),
        stored_frame=hit.stored_frame,
    )


def _milliseconds_since(started: datetime) -> float:
    return (now() - started).total_seconds() * 1000
