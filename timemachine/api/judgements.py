"""Judgements of a recorded ask over HTTP: ask a model for one, read them, estimate what one costs."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Status

from timemachine.api import routers
from timemachine.api.access import caller
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.queries import action_of, session_of
from timemachine.replay.judging.cancellation import cancel
from timemachine.replay.judging.commands import judge
from timemachine.replay.judging.queries import estimate_of, judgement_of, judgements_of
from timemachine.replay.judging.schemas import (
    JudgementDetail,
    JudgementEstimate,
    JudgementIn,
    JudgementOut,
    JudgementPage,
)

PATH = "/{session_id}/actions/{sequence}/judgements"


@routers.sessions.post(PATH, response={201: JudgementOut}, summary="Let a model judge an answer")
def make(request: HttpRequest, session_id: str, sequence: int, payload: JudgementIn) -> Status[JudgementOut]:
    """Ask a model which sentences of a recorded answer the recorded passages support. It costs what the model costs.

    The answer comes when the model has answered. A model that fails, or answers what cannot be read, makes a judgement whose
    `state` is `failed` and whose `error` says why. The recorded session is not changed.
    """
    who = caller(request, "run")
    action = _action(who.project, session_id, sequence)
    made = judge(action, use_model=payload.model, by=who.by)
    return Status(201, JudgementOut.of(made, action))


@routers.sessions.get(PATH, response=JudgementPage, summary="The judgements of an answer")
def index(request: HttpRequest, session_id: str, sequence: int) -> JudgementPage:
    """Every judgement of this step, the first one first."""
    action = _action(caller(request, "read").project, session_id, sequence)
    items = [JudgementOut.of(each, action) for each in judgements_of(action)]
    return JudgementPage.model_construct(items=items, next=None)


@routers.sessions.get(f"{PATH}/estimate", response=JudgementEstimate, summary="What a judgement would cost")
def estimate(request: HttpRequest, session_id: str, sequence: int, model: str) -> JudgementEstimate:
    """About what it costs to let this model judge the step; nothing is asked."""
    action = _action(caller(request, "read").project, session_id, sequence)
    return JudgementEstimate.of(estimate_of(action, model))


@routers.sessions.get(f"{PATH}/{{uuid:judgement_id}}", response=JudgementDetail, summary="One judgement")
def read(request: HttpRequest, session_id: str, sequence: int, judgement_id: UUID) -> JudgementDetail:
    """One judgement with the messages that were sent, whole."""
    action = _action(caller(request, "read").project, session_id, sequence)
    return JudgementDetail.of(judgement_of(action, judgement_id), action)


@routers.sessions.post(f"{PATH}/{{uuid:judgement_id}}/cancel", summary="Cancel a judgement")
def cancel_judgement(
    request: HttpRequest, session_id: str, sequence: int, judgement_id: UUID
) -> dict[str, Any]:
    """End a judgement that is under way, also while its provider is silent; it says so then. It may have been billed."""
    action = _action(caller(request, "run").project, session_id, sequence)
    cancel(judgement_of(action, judgement_id))
    return {"id": str(judgement_id), "cancel_wanted": True}


def _action(project: Project, session_id: str, sequence: int) -> Action:
    return action_of(session_of(project, session_id), sequence)
