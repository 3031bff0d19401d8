"""Reading a session over HTTP: the list, its actions, the state at a step, its summary."""

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from ninja import Query

from timemachine.api import paging, routers, sizes
from timemachine.api.access import caller
from timemachine.api.documents import session_json
from timemachine.api.paging import checked_limit, sized_page
from timemachine.api.paging import read as read_place
from timemachine.api.schemas import ActionFilter, SessionFilter
from timemachine.core.payloads.queries import value
from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import dollars
from timemachine.governance.deletion.erasure.document import as_given
from timemachine.memory.search.sessions import Wanted, sessions_page
from timemachine.recording.annotations.notes.queries import notes_of
from timemachine.recording.annotations.significance.effective import IMPORTANCE, SIGNIFICANCE
from timemachine.recording.sessions.branches import family_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import action_of, actions_of, session_of
from timemachine.recording.timeline.document import action_json, with_everything
from timemachine.recording.timeline.state import state_at, talking
from timemachine.recording.timeline.summary import summary_of
from timemachine.replay.judging.queries import spent_on

MOST_FRAMES = 100_000


@routers.sessions.get("", summary="List sessions")
def index(request: HttpRequest, wanted: Query[SessionFilter]) -> dict[str, Any]:
    """The project's sessions, newest first."""
    project = caller(request, "read").project
    asked = wanted.model_dump(exclude={"limit", "after"})
    found = sessions_page(project, Wanted(**asked), wanted.after, checked_limit(wanted.limit))
    return {"items": [session_json(session) for session in found.sessions], "next": found.next}


@routers.sessions.get("/{session_id}/actions", summary="List a session's actions")
def actions(request: HttpRequest, session_id: str, wanted: Query[ActionFilter]) -> dict[str, Any]:
    """The session's actions in their order, whole."""
    session = session_of(caller(request, "read").project, session_id)
    rows = Action.objects.filter(session=session, **wanted.exactly())
    if wanted.significance:
        rows = rows.annotate(now_significance=SIGNIFICANCE).filter(now_significance=wanted.significance)
    if wanted.tag:
        rows = rows.filter(tags__contains=[wanted.tag])
    if wanted.min_importance is not None:
        rows = rows.annotate(weighed=IMPORTANCE).filter(weighed__gte=wanted.min_importance)
    if wanted.after is not None:
        rows = rows.filter(sequence__gt=read_place(wanted.after, paging.number))
    found = sized_page(with_everything(rows), wanted.limit, "sequence", sizes.of_action(), action_json)
    return found | {"items": as_given(session, found["items"])}


@routers.sessions.get("/{session_id}/actions/{sequence}", summary="One action")
def action(request: HttpRequest, session_id: str, sequence: int) -> dict[str, Any]:
    """One action, whole; `erased` names the fields of it that were erased, where there are any.

    Its significance and importance are those in force; where somebody changed them, `recorded` says what was recorded.
    """
    return action_of_session(session_of(caller(request, "read").project, session_id), sequence)


def action_of_session(session: Session, sequence: int) -> dict[str, Any]:
    """One action as a document, with what is in force for it and what was erased of it. Raises `NotFound`."""
    row = action_of(session, sequence)
    (found,) = as_given(session, [action_json(with_everything(Action.objects.filter(id=row.id)).get())])
    return found


@routers.sessions.get("/{session_id}/branches", summary="What branched from what")
def branches(request: HttpRequest, session_id: str) -> dict[str, Any]:
    """The session with all that it went on from and all that went on from those: each after its parent, `depth` below the first.

    `complete` is false where there are more than 100 sessions above, or more than 500 below the first of those.
    """
    family = family_of(session_of(caller(request, "read").project, session_id))
    found = [session_json(branch.session) | {"depth": branch.depth} for branch in family.branches]
    return {"items": found, "complete": family.complete}


@routers.sessions.get("/{session_id}/state", summary="The state at a step")
def state(request: HttpRequest, session_id: str, at: int) -> dict[str, Any]:
    """What was known at step `at`: messages (system prompts among them, and nothing that tools and the system said among themselves), frames used, running totals."""
    session = session_of(caller(request, "read").project, session_id)
    action_of(session, at)
    found = state_at(session, at, most_messages=0, most_frames=MOST_FRAMES)
    totals = {
        **asdict(found.totals),
        "cost_usd": dollars(found.totals.cost_usd),
        "saved_usd": dollars(found.totals.saved_usd),
    }
    return {
        "at": at,
        "as_of": written(found.as_of),
        "messages": _messages(session, at),
        "frames_used": [asdict(each) for each in found.frames_used],
        "frames_existed": found.frames_existed,
        "totals": totals | {"first": written(found.totals.first), "last": written(found.totals.last)},
    }


@routers.sessions.get("/{session_id}/summary", summary="What a session adds up to")
def summary(request: HttpRequest, session_id: str) -> dict[str, Any]:
    """Counts, tokens, cost, duration, iterations, tools, models and errors of a session.

    `judgements` says what was spent on judging its answers, which is no part of the session and in none of its totals;
    `notes` how many notes are pinned to its steps.
    """
    session = session_of(caller(request, "read").project, session_id)
    spent = spent_on(session)
    judgements = {
        "count": spent.judgements,
        "cost_usd": dollars(spent.cost_usd),
        "unknown_cost_calls": spent.unknown,
    }
    return summary_of(session) | {"judgements": judgements, "notes": notes_of(session).count()}


@routers.sessions.get("/{session_id}/checkpoints", summary="A session's checkpoints")
def checkpoints(
    request: HttpRequest, session_id: str, after: str | None = None, limit: int = 50
) -> dict[str, Any]:
    """The session's checkpoints in their order, with their states."""
    session = session_of(caller(request, "read").project, session_id)
    rows = Action.objects.filter(session=session, kind="checkpoint")
    if after is not None:
        rows = rows.filter(sequence__gt=read_place(after, paging.number))
    return sized_page(with_everything(rows), limit, "sequence", sizes.of_action(), action_json)


def _messages(session: Session, at: int) -> list[dict[str, Any]]:
    """Every message up to a step, whole; an ask is its question and its answer. What tools and the system said among themselves is none."""
    return [turn for row in talking(actions_of(session).filter(sequence__lte=at)) for turn in _turns(row)]


def _turns(row: Action) -> list[dict[str, Any]]:
    asked, said = value(row.input), value(row.output)
    if row.kind == "message":
        return [{"sequence": row.sequence, "role": row.role, "content": asked if said is None else said}]
    failed = row.error_type is not None  # what it wrote before it failed is no answer
    turns = [("user", asked), ("agent", None if failed else said)]
    return [
        {"sequence": row.sequence, "role": role, "content": text} for role, text in turns if text is not None
    ]
