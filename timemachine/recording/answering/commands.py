"""Put, find and ask, done and recorded: inside a session each becomes an action, the find inside an ask its child."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, TimeMachineError
from timemachine.core.pure.ids import uuid7
from timemachine.knowledge import find as finding
from timemachine.knowledge.commands import NewFrame, Put
from timemachine.knowledge.commands import put as put_frames
from timemachine.knowledge.empty_results import Emptiness, emptiness
from timemachine.knowledge.find import Findings, Found, Query
from timemachine.knowledge.models import Collection
from timemachine.llm.concurrency import release_connection
from timemachine.llm.prices import failed_price
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.llm.queries import usable_model
from timemachine.recording.answering import cache
from timemachine.recording.answering.failures import failed_parameters, partial_output, recorded_as
from timemachine.recording.answering.model_asks import Answered, CallParameters, ContextPassage, answer
from timemachine.recording.answering.running_asks import calls, come_to_its_record
from timemachine.recording.sessions.commands import append, require_open
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.recording.sessions.pure.validation import check_head
from timemachine.recording.sessions.put_output import place_in_file, put_output

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PutDone:
    """Frames that were put, and the sequences of their actions where a session recorded them."""

    puts: list[Put]
    sequences: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindDone:
    """What was found, the sequence of the action where a session recorded it, and `empty` where there was nothing to find."""

    findings: Findings
    sequence: int | None
    empty: Emptiness | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskDone:
    """What was answered over what was found, the sequence of the action where a session recorded it, and `empty` as of a find."""

    findings: Findings
    answered: Answered
    sequence: int | None
    empty: Emptiness | None = None


def _nobody(findings: Findings) -> None:  # noqa: ARG001
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Who follows an ask: `found` gets the passages before a model is asked over them, `listening` the answer as it is written.

    `ask` is the id by which the ask is under way, None where it has none.
    """

    found: Callable[[Findings], None] = _nobody
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
    """Put passages into the collection; in a session each is recorded, as its agent's where no other is said."""
    _check(session, agent)
    started = now()
    puts = put_frames(collection, frames, by=by)
    if session is None:
        return PutDone(puts=puts, sequences=[])
    took = _milliseconds_since(started) if len(frames) == 1 else None  # of one of many it is not known
    drafts = [
        _put_draft(collection, frame, done, started, took) for frame, done in zip(frames, puts, strict=True)
    ]
    return PutDone(puts=puts, sequences=append(session.id, [replace(each, agent=agent) for each in drafts]))


def find(
    collection: Collection, query: Query, *, session: Session | None = None, agent: str | None = None
) -> FindDone:
    """Find passages; in a session the find is recorded with every hit frozen, as its agent's where no other is said."""
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
    audience: Audience | None = None,
) -> AskDone:
    """Find passages and ask a model over them; in a session both are recorded, a failed call with its error.

    Both are the session's agent's where no other `agent` is said.

    The same question over the same passages is answered from the project's cache, unless `no_cache` asks the model again;
    the fresh answer is then kept in place of the earlier one.
    Raises `InvalidInput` for an unknown model or an agent that is too long and `Unavailable` for one that cannot be used here, before anything is done;
    `ModelFailed` where the call failed, with the `sequence` that records it. A session that is ended meanwhile still gets the
    record; one that is erased takes it along (`NotFound`).
    """
    _check(session, agent)
    model = usable_model(project.id, use_model)
    asked = parameters or CallParameters()
    started = now()
    findings = finding.find(collection, query)
    passages = [ContextPassage(frame=hit.frame, title=hit.title, text=hit.text) for hit in findings.hits]
    following = audience or Audience()
    following.found(findings)
    try:
        key = cache.key_of(project.id, model, query.text, passages, asked)
        kept = None if no_cache else cache.kept_answer(project.id, key, passages)
        if kept is not None:
            following.listening.on_text(kept.text)
        else:
            calls(following.ask, model)
            if model.provider != LOCAL:
                release_connection()
        answered = kept or answer(project.id, model, query.text, passages, asked, following.listening)
    except TimeMachineError as failed:
        draft = replace(
            _failed_draft(findings, model, failed, started),
            agent=agent,
            parameters=failed_parameters(failed, asked),
        )
        raise recorded_as(failed, _recorded_failure(session, draft, findings, following.ask)) from failed
    draft = replace(_ask_draft(findings, answered, started), agent=agent)
    sequence = _record(session, draft, findings, following.ask)
    cache.keep(key, answered, collection=collection, session=session, sequence=sequence, asked_at=started)
    empty = _emptiness(collection, findings)
    return AskDone(findings=findings, answered=answered, sequence=sequence, empty=empty)


def retrieval_draft(findings: Findings) -> RetrievalDraft:
    """The findings as they are frozen into a record."""
    return RetrievalDraft(
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


def _emptiness(collection: Collection, findings: Findings) -> Emptiness | None:
    return None if findings.hits else emptiness(collection, findings.as_of)


def _check(session: Session | None, agent: str | None) -> None:
    """Refuse an ended session, and what could not be recorded, before anything is done, above all before a model is called."""
    check_head(agent=agent)
    if session is not None:
        require_open(session)


def _record(
    session: Session | None, asked: ActionDraft, findings: Findings, ask_id: UUID | None
) -> int | None:
    if session is None:
        return None
    child = replace(_find_draft(findings, asked.started_at), parent=asked.id, agent=asked.agent)
    try:
        with transaction.atomic():
            recorded = append(session.id, [asked, child], was_open=True)[0]
            # after the session, as erasing locks them
            come_to_its_record(ask_id)
    except NotFound as erased:
        raise NotFound(
            "The session was deleted while its ask was made; nothing is kept, and the call may have been billed.",
            code="session_not_found",
        ) from erased
    return recorded


def _recorded_failure(
    session: Session | None, asked: ActionDraft, findings: Findings, ask_id: UUID | None
) -> int | None:
    """The step of a failed ask; None where it cannot be recorded, because what the provider said matters more than why not."""
    try:
        return _record(session, asked, findings, ask_id)
    except TimeMachineError as why:
        log.warning("a failed ask could not be recorded: %s", why.message)
        return None


def _put_draft(
    collection: Collection, frame: NewFrame, done: Put, started: datetime, took: float | None
) -> ActionDraft:
    return ActionDraft(
        kind="put",
        layer="agent",
        name=frame.title or None,
        started_at=started,
        duration_ms=took,
        input=frame.text,
        output=put_output(collection.name, done.frame, _origin(frame), already_there=done.already_there),
    )


def _origin(frame: NewFrame) -> dict[str, Any] | None:
    """Where in which file the passage stood, where it comes from one."""
    found = frame.origin
    return None if found is None else place_in_file(f"{found.source}", frame.uri, found.start, found.end)


def _find_draft(findings: Findings, started: datetime | None) -> ActionDraft:
    return ActionDraft(
        kind="find",
        layer="agent",
        started_at=started,
        duration_ms=findings.duration_ms,
        input=findings.query.text,
        retrieval=retrieval_draft(findings),
    )


def _ask_draft(findings: Findings, answered: Answered, started: datetime) -> ActionDraft:
    return ActionDraft(
        kind="ask",
        id=str(uuid7()),
        layer="agent",
        started_at=started,
        duration_ms=_milliseconds_since(started),
        input=findings.query.text,
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
        retrieval=retrieval_draft(findings),
    )


def _failed_draft(
    findings: Findings, model: ModelName, failed: TimeMachineError, started: datetime
) -> ActionDraft:
    priced = failed_price(model, failed, now())
    return ActionDraft(
        kind="ask",
        id=str(uuid7()),
        layer="agent",
        started_at=started,
        duration_ms=_milliseconds_since(started),
        input=findings.query.text,
        output=partial_output(failed),
        model=str(model),
        cost_usd=priced.cost_usd,
        prices=priced.prices,
        error_type=failed.code,
        error_message=failed.message,
        retrieval=retrieval_draft(findings),
    )


def _hit_draft(hit: Found) -> HitDraft:
    metadata: dict[str, Any] | None = hit.metadata or None
    return HitDraft(
        rank=hit.rank,
        score=hit.score,
        scores=hit.scores,
        frame=hit.frame,
        version=hit.version,
        title=hit.title or None,
        uri=hit.uri or None,
        metadata=metadata,
        sha256=hit.sha256,
        text=hit.text,
        matched=hit.matched.as_json(),
        stored_frame=hit.stored_frame,
    )


def _milliseconds_since(started: datetime) -> float:
    return (now() - started).total_seconds() * 1000
