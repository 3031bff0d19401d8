"""Sessions over HTTP: start, list, read, change, end, delete; their totals, branches and checkpoints."""

from typing import Any, cast

from django.db import transaction
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Status
from ninja.decorators import decorate_view

from timemachine.api import paging
from timemachine.api.access import Caller, caller
from timemachine.api.concurrency import limited
from timemachine.api.openapi import file_answer
from timemachine.api.requests import IdempotencyKey, request_hash
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import value
from timemachine.core.pure.content import sha256_hex
from timemachine.core.replica import read_from_replica
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.evidence.tasks import seal_session
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import get_or_create_collection
from timemachine.memory.search.sessions import SessionQuery, sessions_page
from timemachine.recording.annotations.notes.queries import notes_of
from timemachine.recording.answering.running_asks import wait_for_asks
from timemachine.recording.answering.summaries import remaining_summaries
from timemachine.recording.importing.exporting import EXPORTS, sent
from timemachine.recording.sessions import commands
from timemachine.recording.sessions.branches import branch_count, branch_tree
from timemachine.recording.sessions.idempotency import start_once
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.payload_sizes import size_of_action
from timemachine.recording.sessions.pure.validation import check_end
from timemachine.recording.sessions.pure.vocabulary import Role
from timemachine.recording.sessions.queries import action_of, actions_of, checkpoint_of, session_of
from timemachine.recording.sessions.schemas import (
    BranchesOut,
    BranchOut,
    CheckpointIn,
    CheckpointOut,
    ParentIn,
    RemainingSummary,
    ResumedOut,
    ResumeIn,
    SessionChange,
    SessionDeleted,
    SessionEnd,
    SessionErasure,
    SessionFilter,
    SessionIn,
    SessionOut,
    SessionPage,
)
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.timeline.schemas.actions import ActionPage, ReadAction, with_everything
from timemachine.recording.timeline.schemas.overview import (
    JudgingCost,
    StateMessage,
    StateOut,
    SummaryOut,
    TotalsFilter,
    TotalsOut,
    line_of,
)
from timemachine.recording.timeline.state import conversation, state_at
from timemachine.recording.timeline.totals import summary_of, totals_by
from timemachine.replay.judging.queries import spent_on

MOST_FRAMES = 100_000
router = Router(tags=["sessions"])
"""Several modules add to it: one path belongs to one router, whatever its methods."""


@router.post("", response={201: SessionOut}, summary="Start a session")
def start(
    request: HttpRequest, payload: SessionIn, idempotency_key: IdempotencyKey = None
) -> Status[SessionOut]:
    """Start a session. The `collection` is created if it does not exist.

    There is one session per `key`; a second one is refused (`key_taken`). The same `Idempotency-Key` again gets the session that it
    started, as it is now. If you send a session later than it happened, give its `started_at`.
    """
    who = caller(request, "record")
    if idempotency_key is None:
        return Status(201, SessionOut.of(_started(who, payload)))
    started = start_once(who.project, idempotency_key, request_hash(request), lambda: _started(who, payload))
    return Status(201, SessionOut.of(started))


@router.get("", response=SessionPage, summary="List sessions")
@read_from_replica
def index(request: HttpRequest, wanted: Query[SessionFilter]) -> SessionPage:
    """The project's sessions, newest first."""
    project = caller(request, "read").project
    filters = wanted.model_dump(exclude={"limit", "after"})
    found = sessions_page(project, SessionQuery(**filters), wanted.after, paging.checked_limit(wanted.limit))
    return SessionPage.model_construct(
        items=[SessionOut.of(session) for session in found.sessions], next=found.next
    )


@router.get("/{session_id}", response=SessionOut, summary="One session")
def read(request: HttpRequest, session_id: str) -> SessionOut:
    """A session by its uuid or key."""
    return SessionOut.of(session_of(caller(request, "read").project, session_id))


@router.patch("/{session_id}", response=SessionOut, summary="Rename or tag a session")
def change(request: HttpRequest, session_id: str, payload: SessionChange) -> SessionOut:
    """Change a session's name, metadata or tags. The recording is unchanged."""
    session = session_of(caller(request, "record").project, session_id)
    return SessionOut.of(commands.describe(session, **payload.model_dump(exclude_unset=True)))


@router.delete("/{session_id}", response=SessionDeleted, summary="Delete a session")
def erase(request: HttpRequest, session_id: str, payload: SessionErasure | None = None) -> SessionDeleted:
    """Delete a session with everything it recorded, its notes, replays, judgements and share links. This cannot be undone.

    Its `summaries` in collections stay and are listed by `collection` and `frame`. So do its `branches`, whose `parent_deleted` says from
    which step they branched. The `reason` in the body is stored in the tombstone that the project's log has of what was sealed.
    """
    who = caller(request, "admin")
    session = session_of(who.project, session_id)
    reason = payload.reason if payload else None
    stays = [RemainingSummary.model_construct(**each) for each in remaining_summaries(session)]
    branches = branch_count(session)
    actions = erase_session(session, by=who.by, reason=reason)
    return SessionDeleted.model_construct(
        erased=str(session.id), actions=actions, branches=branches, summaries=stays
    )


@router.post("/{session_id}/end", response=SessionOut, summary="End a session")
def end(request: HttpRequest, session_id: str, payload: SessionEnd | None = None) -> SessionOut:
    """End a session, after the asks that are running in it are recorded; ending it twice is the same as once.

    `ended_at` in the body says when it ended, if that was not now: not before it started.
    """
    session = session_of(caller(request, "record").project, session_id)
    ended_at = payload.ended_at if payload else None
    check_end(session.started_at, ended_at)
    wait_for_asks(session)
    commands.end_session(session.id, at=ended_at)
    enqueue(seal_session, session.id)
    return SessionOut.of(session_of(session.project, str(session.id)))


@router.get("/{session_id}/branches", response=BranchesOut, summary="List the branches of a session")
def branches(request: HttpRequest, session_id: str) -> BranchesOut:
    """The session with all that it branched from and all that branched from those: each after its parent, `depth` below the first.

    `complete` is false if there are more than 100 sessions above, or more than 500 below the first of those.
    """
    family = branch_tree(session_of(caller(request, "read").project, session_id))
    found = [BranchOut.of(branch.session, depth=branch.depth) for branch in family.branches]
    return BranchesOut.model_construct(items=found, complete=family.complete)


@router.get("/{session_id}/state", response=StateOut, summary="The state at a step")
def state(request: HttpRequest, session_id: str, at: int) -> StateOut:
    """What was known at step `at`: messages (including system prompts, but not exchanges between tools and the system), frames used, running totals."""
    session = session_of(caller(request, "read").project, session_id)
    action_of(session, at)
    found = state_at(session, at, most_messages=0, most_frames=MOST_FRAMES)
    return StateOut.of(found, _messages(session, at))


@router.get("/{session_id}/summary", response=SummaryOut, summary="Summarise a session")
def summary(request: HttpRequest, session_id: str) -> SummaryOut:
    """Counts, tokens, cost, duration, iterations, tools, models and errors of a session.

    `judgements` says what was spent on judging its answers, which is no part of the session and in none of its totals;
    `notes` how many notes are pinned to its steps.
    """
    session = session_of(caller(request, "read").project, session_id)
    spent = spent_on(session)
    judged = JudgingCost.model_construct(
        count=spent.judgements, cost_usd=float(spent.cost_usd), unknown_cost_calls=spent.unknown
    )
    return SummaryOut.model_construct(
        **dict(summary_of(session)), judgements=judged, notes=notes_of(session).count()
    )


@router.get("/{session_id}/totals", response=TotalsOut, summary="The totals of a session's steps")
def totals(request: HttpRequest, session_id: str, asked: Query[TotalsFilter]) -> TotalsOut:
    """Time, tokens, cost, calls and errors of the steps that `filter` shows (all without one), and the same by kind, tool, model or agent, the longest first.

    `duration_ms` adds up what each of the `timed_actions` recorded: a step that contains others counts theirs too; null if none recorded any. `share` is
    that of the whole time, 0 to 1. A row of null is for the steps that name none; its `filter` shows only them. Costs leave the `unknown_cost_calls` out.
    """
    session = session_of(caller(request, "read").project, session_id)
    shown = parse(asked.filter)
    found = totals_by(session, asked.by, shown)
    lines, following = paging.computed_rows(found.lines, asked.limit, asked.after)
    return TotalsOut.of(session, shown, found, [line_of(line, asked.by, shown) for line in lines], following)


@router.get(
    "/{session_id}/checkpoints", response=ActionPage, summary="A session's checkpoints", exclude_unset=True
)
def checkpoints(
    request: HttpRequest, session_id: str, after: str | None = None, limit: int = paging.DEFAULT
) -> ActionPage:
    """The session's checkpoints in their order, with their states."""
    session = session_of(caller(request, "read").project, session_id)
    rows = Action.objects.filter(session=session, kind="checkpoint")
    found, following = paging.sized_rows(with_everything(rows), limit, after, "sequence", size_of_action())
    return ActionPage.model_construct(items=[ReadAction.of(row) for row in found], next=following)


@decorate_view(limited)
@router.post("/{session_id}/checkpoints", response={201: CheckpointOut}, summary="Set a checkpoint")
def checkpoint(
    request: HttpRequest,
    session_id: str,
    payload: CheckpointIn,
    idempotency_key: IdempotencyKey = None,
) -> Status[CheckpointOut]:
    """A named action with the agent's state, of the session's agent unless `agent` is given. Repeating the same `Idempotency-Key` returns the first answer."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    sequence = commands.set_checkpoint(
        session.id,
        payload.name,
        payload.state,
        agent=payload.agent,
        idempotency_key=idempotency_key,
        request_sha256=sha256_hex(request.body),
    )
    return Status(201, CheckpointOut.model_construct(sequence=sequence, name=payload.name))


@router.post("/{session_id}/resume", response=ResumedOut, summary="Resume from a checkpoint")
def resume(request: HttpRequest, session_id: str, payload: ResumeIn) -> ResumedOut:
    """What the agent knew at a checkpoint, exactly; at the last one if none is named. Nothing is recorded.

    To continue in a session of its own, start one whose `parent` is the `parent` of the answer.
    """
    session = session_of(caller(request, "read").project, session_id)
    return ResumedOut.of(checkpoint_of(session, payload.checkpoint), session)


@transaction.atomic
def _started(who: Caller, payload: SessionIn) -> Session:
    """Return the started session, with its collection if that is new: both or neither."""
    named = payload.collection
    return commands.start_session(
        who.project,
        by=who.by,
        name=payload.name,
        key=payload.key,
        agent=payload.agent,
        user=payload.user,
        collection=get_or_create_collection(who.project, named, by=who.by) if named else None,
        parent=_parent(who.project, payload.parent),
        metadata=payload.metadata,
        tags=payload.tags,
        started_at=payload.started_at,
    )


def _parent(project: Project, parent: ParentIn | None) -> tuple[Session, int] | None:
    if parent is None:
        return None
    session = session_of(project, parent.session)
    return session, action_of(session, parent.sequence).sequence


def _messages(session: Session, at: int) -> list[StateMessage]:
    """Return the complete messages up to a step. What tools and the system said to each other is not one."""
    return [
        turn for row in conversation(actions_of(session).filter(sequence__lte=at)) for turn in _turns(row)
    ]


def _turns(row: Action) -> list[StateMessage]:
    input_value, output_value = value(row.input), value(row.output)
    failed = row.error_type is not None  # what it wrote before it failed is no answer
    turns: list[tuple[str | None, Any]] = [("user", input_value), ("agent", None if failed else output_value)]
    if row.kind == "message":
        turns = [(row.role, input_value if output_value is None else output_value)]
    return [
        StateMessage.model_construct(sequence=row.sequence, role=cast("Role | None", role), content=text)
        for role, text in turns
        if text is not None or row.kind == "message"
    ]


@router.get(
    "/{session_id}/export",
    tags=["export"],
    summary="Export a session as a file",
    openapi_extra=file_answer(*(each.media_type for each in EXPORTS.values())),
)
def export(
    request: HttpRequest,
    session_id: str,
    format: str | None = None,  # noqa: A002  # the name is the contract's
) -> StreamingHttpResponse:
    """The session as it is at this moment, also while it is recording: `Last-Sequence` is the last step in the file.

    `format` is `timemachine` (the default; importing it gives an equal session), `atif`, `otlp_json` or `zip`.
    """
    return sent(session_of(caller(request, "read").project, session_id), format)
