"""Ask a judge model about a recorded answer, from the step's Action tab."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.numbers import money
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.queries import action_of, session_of
from timemachine.replay.judging.cancellation import cancel as end
from timemachine.replay.judging.commands import judge as judged_by
from timemachine.replay.judging.models import DONE, Judgement
from timemachine.replay.judging.queries import judgement_of
from timemachine.web.access import of
from timemachine.web.flash_messages import Note, leave
from timemachine.web.redirects import see_other
from timemachine.web.sessions.presenters.judging import JudgeForm, judging_page


@never_cache
@require_POST
def judge(request: HttpRequest, id: str, sequence: int) -> HttpResponse:  # noqa: A002
    """Ask the chosen judge model, and show its verdict next to the others."""
    access = of(request)
    access.require(OPERATOR)
    session = session_of(access.project, id)
    action = action_of(session, sequence)
    form = JudgeForm(request.POST, models=())
    form.is_valid()
    try:
        made = judged_by(action, use_model=form.chosen, by=access.user.email, judgement_id=form.judgement_id)
        note = _note(action, made)
    except TimeMachineError as why:
        note = _failed(action, form.chosen, why.message)
    return _shown(request, action, note)


@never_cache
@require_POST
def cancel(request: HttpRequest, id: str, sequence: int, judgement: UUID) -> HttpResponse:  # noqa: A002
    """Cancel a running judgement."""
    access = of(request)
    access.require(OPERATOR)
    session = session_of(access.project, id)
    action = action_of(session, sequence)
    found = judgement_of(action, judgement)
    note = Note(text="The judgement is being cancelled. Reload the page to see its result.")
    try:
        end(found)
    except TimeMachineError as why:
        note = Note(text=why.message, bad=True)
    return _shown(request, action, note)


def _shown(request: HttpRequest, action: Action, note: Note) -> HttpResponse:
    """Redirect to the step and leave the result there: judging takes long, and people visit other pages in the meantime."""
    leave(request, judging_page(action), note)
    page = reverse("timeline", args=[action.session_id], query={"step": action.sequence})
    return see_other(page, part="judgements")


def _note(action: Action, made: Judgement) -> Note:
    if made.state != DONE:
        return _failed(action, made.model, made.error_message or "The judge model failed.")
    cost = "its cost is unknown" if made.cost_usd is None else f"it cost {money(made.cost_usd)}"
    return Note(text=f"{made.model} has judged the answer; {cost}.")


def _failed(action: Action, judge: str, why: str) -> Note:
    where = f"Step {action.sequence:,} of {action.session.name}"
    return Note(text=f"{where} was not judged{f' by {judge}' if judge else ''}: {why}", bad=True)
