"""How much the steps of a session matter, over HTTP: changing it beside the record, what was changed, and what rules propose."""

from typing import Annotated, Any

from django.http import HttpRequest
from pydantic import Field

from timemachine.api import paging, routers
from timemachine.api.access import caller
from timemachine.api.reading import action_of_session
from timemachine.core.pure.schemas import Strict
from timemachine.memory.transcripts.proposing import accept, decline, proposed
from timemachine.recording.annotations.significance.commands import UNCHANGED, change
from timemachine.recording.annotations.significance.document import change_json
from timemachine.recording.annotations.significance.models import Rule
from timemachine.recording.annotations.significance.queries import changes_before
from timemachine.recording.sessions.pure.vocabulary import Significance
from timemachine.recording.sessions.queries import session_of


class WeightIn(Strict):
    """What is to be in force for a step; null goes back to what was recorded, and what is not sent stays."""

    significance: Significance | None = None
    importance: Annotated[float, Field(ge=0, le=1)] | None = None


class AnswerIn(Strict):
    """Which proposal is answered, and how."""

    sequence: int = Field(ge=1, lt=2**62)
    rule: Rule
    accept: bool


@routers.sessions.patch(
    "/{session_id}/actions/{sequence}", tags=["memory"], summary="Say how much an action matters"
)
def weigh(request: HttpRequest, session_id: str, sequence: int, payload: WeightIn) -> dict[str, Any]:
    """Change the significance or the importance of an action beside the record, which stays, and so does its seal. Who changed what is kept.

    The answer is the action with what is in force, and `recorded`.
    """
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    given = payload.model_dump(exclude_unset=True)
    change(
        session,
        sequence,
        by=who.by,
        significance=given.get("significance", UNCHANGED),
        importance=given.get("importance", UNCHANGED),
    )
    return action_of_session(session, sequence)


@routers.sessions.get("/{session_id}/weights", tags=["memory"], summary="What was changed of what matters")
def changes(
    request: HttpRequest, session_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> dict[str, Any]:
    """Every change of a step's significance and importance, the latest first: to what (null: to what was recorded), by whom, when."""
    session = session_of(caller(request, "read").project, session_id)
    found = changes_before(session, None if after is None else paging.read(after, paging.identity))
    shown = list(found[: paging.checked_limit(limit) + 1])
    return paging.page(shown, limit, lambda each: [str(each.id)], change_json)


@routers.sessions.get("/{session_id}/proposals", tags=["memory"], summary="What rules propose")
def index(request: HttpRequest, session_id: str) -> dict[str, Any]:
    """The significance that rules propose for steps to which nobody gave one, each with its rule and its reason.

    The rules: `first_error`, `error_gone` (what the agent did last before a call that had failed went well and failed no more), and by wording
    `decision`, `hypothesis`, `root_cause`, `solved`. `read` is how many steps were looked at, the first of the session.
    """
    session = session_of(caller(request, "read").project, session_id)
    found = proposed(session)
    items = [
        {
            "sequence": each.sequence,
            "rule": each.rule,
            "significance": each.significance,
            "reason": each.reason,
        }
        for each in found.proposals
    ]
    return {"items": items, "next": None, "read": found.read, "recorded": session.last_sequence}


@routers.sessions.post("/{session_id}/proposals", tags=["memory"], summary="Accept or decline a proposal")
def answer(request: HttpRequest, session_id: str, payload: AnswerIn) -> dict[str, Any]:
    """With `accept` the step gets the significance that is proposed; without, the proposal is not made again. The answer is the action."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    (accept if payload.accept else decline)(session, payload.sequence, payload.rule, by=who.by)
    return action_of_session(session, payload.sequence)
