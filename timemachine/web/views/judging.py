"""Letting a model judge a recorded answer, from the step's Action tab."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from timemachine.accounts.models import OPERATOR
from timemachine.base.errors import TimeMachineError
from timemachine.base.wording import money
from timemachine.judging.cancelling import cancel as end
from timemachine.judging.commands import judge as judged_by
from timemachine.judging.models import DONE, Judgement
from timemachine.judging.queries import judgement_of
from timemachine.recording.queries import action_of, session_of
from timemachine.web.access import of
from timemachine.web.judging import JudgeForm
from timemachine.web.redirects import see_other


@never_cache
@require_POST
def judge(request: HttpRequest, id: str, sequence: int) -> HttpResponse:  # noqa: A002
    """Ask the model that was chosen, and show what it said beside the others."""
    access = of(request)
    access.require(OPERATOR)
    session = session_of(access.project, id)
    action = action_of(session, sequence)
    form = JudgeForm(request.POST, models=())
    form.is_valid()
    page = reverse("timeline", args=[session.id], query={"step": sequence})
    try:
        made = judged_by(action, use_model=form.chosen, by=access.user.email)
    except TimeMachineError as why:
        messages.error(request, why.message)
        return see_other(page)  # at its top, where the message stands
    _tell(request, made)
    return see_other(page, part="judgements")


@never_cache
@require_POST
def cancel(request: HttpRequest, id: str, sequence: int, judgement: UUID) -> HttpResponse:  # noqa: A002
    """End a judgement that is under way."""
    access = of(request)
    access.require(OPERATOR)
    session = session_of(access.project, id)
    found = judgement_of(action_of(session, sequence), judgement)
    page = reverse("timeline", args=[session.id], query={"step": sequence})
    try:
        end(found)
    except TimeMachineError as why:
        messages.error(request, why.message)
        return see_other(page)
    messages.success(request, "The judgement ends within a second; reload to see what became of it.")
    return see_other(page, part="judgements")


def _tell(request: HttpRequest, made: Judgement) -> None:
    if made.state != DONE:
        messages.error(request, made.error_message or "The judge failed.")
        return
    cost = "its price is unknown" if made.cost_usd is None else f"it cost {money(made.cost_usd)}"
    messages.success(request, f"{made.model} has judged the answer; {cost}.")
