"""The form that repeats a find or ask with changes, next to the recorded step."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from timemachine.core.pure.errors import TimeMachineError
from timemachine.jobs.queue import enqueue
from timemachine.llm.queries import model_choices
from timemachine.recording.answering.pure.prompt import SYSTEM_PROMPT
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.runs import frozen
from timemachine.replay.runs.queries import trials_of
from timemachine.replay.runs.trials import step_to_try, try_step
from timemachine.replay.tasks import run_replay
from timemachine.web.access import of
from timemachine.web.replays.forms.trials import TrialForm

SHOWN_TRIALS = 20


@require_http_methods(["GET", "HEAD", "POST"])
def trial(request: HttpRequest, id: str, sequence: int) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/steps/{sequence}/trial/`: the form filled with the recorded values; POST runs the trial."""
    access = of(request)
    access.require("operator")
    session = session_of(access.project, id)
    action = step_to_try(session, sequence)
    data = request.POST if request.method == "POST" else None
    form = TrialForm(model_choices(access.project.id), action, data)
    if data is None or not form.is_valid():
        return _form(request, action, form, status=200 if data is None else 422)
    try:
        replay = try_step(
            session, form.options(), by=access.user.email, replay_id=form.cleaned_data["form_id"]
        )
    except TimeMachineError as why:
        return _form(request, action, form, status=form.refuse(why))
    enqueue(run_replay, replay.id)
    return redirect("replay_step", replay.id, action.sequence)


def _form(request: HttpRequest, action: Action, form: TrialForm, *, status: int) -> HttpResponse:
    context = {
        "session": action.session,
        "action": action,
        "form": form,
        "hits": frozen.hits_of(action),
        "answer": frozen.answer_of(action) if action.kind == "ask" else None,
        "recorded_system_prompt": (action.parameters or {}).get("system_prompt"),
        "usual_system_prompt": SYSTEM_PROMPT,
        "trials": trials_of(action.session, action.sequence)[:SHOWN_TRIALS],
    }
    return render(request, "replays/trial.html", context, status=status)
