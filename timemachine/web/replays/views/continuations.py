"""Continuations: the form that starts one at a model call, and the form that lets one go on."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import whole_number
from timemachine.jobs.queue import enqueue
from timemachine.llm.queries import model_choices
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.usage.queries import models_of
from timemachine.replay.continuation import commands
from timemachine.replay.continuation.estimate import estimate
from timemachine.replay.continuation.plan import NO_CALLS_TO_ANSWER, call_to_continue
from timemachine.replay.runs.model_calls import gaps_of
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.options import CONTINUE
from timemachine.replay.runs.queries import replay_of
from timemachine.replay.runs.tallies import tally
from timemachine.replay.tasks import run_replay
from timemachine.web.access import Access, form_view
from timemachine.web.estimates import Estimate, estimate_alone, is_estimating
from timemachine.web.form_parts import sent
from timemachine.web.http import page
from timemachine.web.replays.forms.continuations import ContinueForm, GoOnForm

_ASSUMPTION: Final = "Assumes as many calls as the recording made from this step. The run ends earlier if the record has no answer."


@form_view(OPERATOR)
def launch(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/continue/?from=`: the form; POST starts the continuation of that model call, or with `estimate`
    shows the cost. Without a step, the model calls of the session to choose from."""
    session = session_of(access.project, id)
    if not request.GET.get("from"):
        return redirect(f"{reverse('timeline', args=[session.id])}?filter=kind:{MODEL_CALL}")
    action = call_to_continue(session, _step_in(request.GET["from"]))
    estimating = is_estimating(request)
    models = model_choices(access.project.id, models_of([session]))
    form = ContinueForm(models, action, sent(request), estimating=estimating)
    if estimating:
        estimated = form.run(lambda: _estimate(session, form))
        return estimate_alone(request, form, estimated) or _form(request, action, form, estimated=estimated)
    replay = form.run(
        lambda: commands.launch(
            session, form.options(), by=access.user.email, replay_id=form.cleaned_data["form_id"]
        )
    )
    if replay is None:
        return _form(request, action, form)
    enqueue(run_replay, replay.id)
    return redirect("replay", replay.id)


def _estimate(session: Session, form: ContinueForm) -> Estimate:
    found = estimate(session, form.options())
    return Estimate(found=[found], assumption=_ASSUMPTION)


def _form(
    request: HttpRequest, action: Action, form: ContinueForm, *, estimated: Estimate | None = None
) -> HttpResponse:
    gaps = gaps_of(action)
    return page(
        request,
        "replays/continue.html",
        status=form.http_status,
        session=action.session,
        action=action,
        gaps=gaps,
        why_not=NO_CALLS_TO_ANSWER if gaps is not None and gaps.calls_in_text else None,
        form=form,
        estimated=estimated,
    )


def _step_in(text: str) -> int:
    """Return the number of a step in an address. Raises `InvalidInput` for any other text."""
    number = whole_number(text)
    if number is None:
        raise InvalidInput(
            f"`from` must be the number of a model call, for example 3, not {text[:40]!r}. Choose one on the timeline; the "
            "filter kind:llm_call shows the model calls.",
            code="invalid_field",
            field="from",
        )
    return number


@form_view(OPERATOR)
def go_on(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/replays/{id}/continue/`: the form for the missing results, the next message of the user or a higher limit; POST goes on."""
    replay = replay_of(access.project, id)
    ending = tally(replay).ending
    form = None if ending is None else form_to_go_on(replay, ending, sent(request))
    if ending is None or form is None:
        return redirect("replay", replay.id)
    given = form.run(
        lambda: commands.go_on(
            replay,
            form.results(),
            by=access.user.email,
            message=form.next_message(),
            max_calls=form.cleaned_data.get("max_calls"),
            spend_limit_usd=form.cleaned_data.get("spend_limit_usd"),
        )
    )
    if given is not None:
        enqueue(run_replay, replay.id)
        return redirect("replay", replay.id)
    return page(
        request,
        "replays/go_on.html",
        status=form.http_status,
        replay=replay,
        session=replay.session,
        ending=ending,
        go_on=form,
    )


def form_to_go_on(replay: Replay, ending: Ending | None, data: object = None) -> GoOnForm | None:
    """Return the form that lets a continuation go on, None if it cannot."""
    if replay.kind != CONTINUE or replay.finished_at is None or replay.branch_id is None:
        return None
    return GoOnForm(ending, data) if ending is not None and ending.can_go_on else None
