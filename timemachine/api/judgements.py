"""Judging answers over HTTP: grounding one in its context, and letting a model judge a recorded one."""

from collections.abc import Sequence
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api.access import caller
from timemachine.api.sessions import router as sessions_router
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import TooLarge
from timemachine.llm.schemas import CancelOut
from timemachine.recording.answering.model_asks import grounding_of
from timemachine.recording.answering.pure.prompt import Passage
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
from timemachine.text.pure.grounding import bounds
from timemachine.text.pure.grounding.schemas import AnswerIn, GroundIn, GroundingOut, GroundingPage

PATH = "/{session_id}/actions/{sequence}/judgements"
router = Router(tags=["judge"])


@router.post("", response=GroundingOut | GroundingPage, summary="Ground an answer")
def ground(request: HttpRequest, payload: GroundIn) -> GroundingOut | GroundingPage:
    """How far an answer is supported by its context, sentence by sentence; for `items`, a list of results in their order.

    At most 20,000 characters and 500 sentences of an answer are read, 20,000 characters of each passage, and 100,000 characters and
    2,500 sentences of all passages together. `unread_characters` is how many were not read; such an answer is never HIGH. A
    request has at most 200 items with 1,000 passages each, and 120,000 characters to read.
    """
    caller(request, "read")
    answers = payload.answers()
    _refuse_too_much(answers)
    found = [_grounding(each) for each in answers]
    return found[0] if payload.items is None else GroundingPage.model_construct(items=found, next=None)


@sessions_router.post(PATH, response={201: JudgementOut}, summary="Let a model judge an answer")
def make(request: HttpRequest, session_id: str, sequence: int, payload: JudgementIn) -> Status[JudgementOut]:
    """Ask a model which sentences of a recorded answer the recorded passages support. The call is paid.

    The answer comes when the model has answered. A model that fails, or answers what cannot be read, makes a judgement whose
    `state` is `failed` and whose `error` says why. The recorded session is not changed.
    """
    who = caller(request, "run")
    action = _action(who.project, session_id, sequence)
    made = judge(action, use_model=payload.model, by=who.by)
    return Status(201, JudgementOut.of(made, action))


@sessions_router.get(PATH, response=JudgementPage, summary="List an answer's judgements")
def index(request: HttpRequest, session_id: str, sequence: int) -> JudgementPage:
    """Every judgement of this step, oldest first."""
    action = _action(caller(request, "read").project, session_id, sequence)
    items = [JudgementOut.of(each, action) for each in judgements_of(action)]
    return JudgementPage.model_construct(items=items, next=None)


@sessions_router.get(
    f"{PATH}/estimate", response=JudgementEstimate, summary="Estimate the cost of a judgement"
)
def estimate(request: HttpRequest, session_id: str, sequence: int, model: str) -> JudgementEstimate:
    """The estimated cost of letting this model judge the step. No model is called."""
    action = _action(caller(request, "read").project, session_id, sequence)
    return estimate_of(action, model)


@sessions_router.get(f"{PATH}/{{uuid:judgement_id}}", response=JudgementDetail, summary="One judgement")
def read(request: HttpRequest, session_id: str, sequence: int, judgement_id: UUID) -> JudgementDetail:
    """One judgement, with the complete messages that were sent."""
    action = _action(caller(request, "read").project, session_id, sequence)
    return JudgementDetail.of(judgement_of(action, judgement_id), action)


@sessions_router.post(
    f"{PATH}/{{uuid:judgement_id}}/cancel", response=CancelOut, summary="Cancel a judgement"
)
def cancel_judgement(request: HttpRequest, session_id: str, sequence: int, judgement_id: UUID) -> CancelOut:
    """End a running judgement, even while its provider is not responding. It may have been billed."""
    action = _action(caller(request, "run").project, session_id, sequence)
    cancel(judgement_of(action, judgement_id))
    return CancelOut.model_construct(id=str(judgement_id), cancel_wanted=True)


def _action(project: Project, session_id: str, sequence: int) -> Action:
    return action_of(session_of(project, session_id), sequence)


def _refuse_too_much(answers: Sequence[AnswerIn]) -> None:
    size = sum(bounds.readable(each.answer, each.context) for each in answers)
    if size > bounds.REQUEST:
        raise TooLarge(
            f"The answers and passages of one request can have at most {bounds.REQUEST:,} characters; these have "
            "{size:,}. Send fewer items per request.",
            limit=bounds.REQUEST,
            characters=size,
        )


def _grounding(answer: AnswerIn) -> GroundingOut:
    passages = [Passage(frame=number, title="", text=text) for number, text in enumerate(answer.context)]
    return grounding_of(answer.answer, passages)
