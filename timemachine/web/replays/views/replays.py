"""Replays: the launch form, progress and result, one step side by side."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.numbers import whole_number
from timemachine.evidence.queries import listed_seal, sealed_replay
from timemachine.evidence.sealing.erased_since import erased_of_replay
from timemachine.governance.deletion.erasure.queries import erased_parts
from timemachine.jobs.queue import enqueue
from timemachine.llm.queries import model_choices
from timemachine.recording.answering.pure.prompt import SYSTEM_PROMPT
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.recording.sessions.queries import HAPPENED_HERE, is_find_inside, session_of
from timemachine.recording.usage.queries import models_of
from timemachine.replay.comparison.queries import comparison_id_of
from timemachine.replay.runs import commands, frozen
from timemachine.replay.runs.answer_lines import answer_lines
from timemachine.replay.runs.estimate import estimate_steps, quick_estimate
from timemachine.replay.runs.frame_ranks import rank_page
from timemachine.replay.runs.model_calls import gaps_of
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure import summary
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.engine import REPLAYED_KINDS
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES
from timemachine.replay.runs.queries import (
    branch_steps_of,
    neighbours_of,
    newest_trials,
    replay_named,
    replay_of,
    step_of,
    step_rows,
    waits_for,
)
from timemachine.replay.runs.tallies import newest_with_counts, recorded_reasons, tally, unknown_reasons
from timemachine.replay.runs.trials import checked, step_to_try, try_step
from timemachine.replay.runs.verifiable import has_nothing_to_verify
from timemachine.replay.suites.queries import run_of_replay
from timemachine.replay.tasks import run_replay
from timemachine.web.access import Access, form_view, get_view, post_view
from timemachine.web.errors import page_message
from timemachine.web.estimates import Estimate, estimate_alone, is_estimating
from timemachine.web.form_parts import sent
from timemachine.web.http import first_rows, is_unchanged, page
from timemachine.web.replays.forms.replays import (
    ReplayForm,
    TrialForm,
    WhereForm,
    as_launched,
    chosen_options,
)
from timemachine.web.replays.presenters.side_by_side import side_by_side
from timemachine.web.replays.views.continuations import form_to_go_on

NOTHING_TO_VERIFY = "Nothing here can be verified: no passage of these steps was recorded with its hash."
SHOWN_STEPS = 200
SHOWN_REPLAYS = 20


@form_view(OPERATOR)
def launch(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/replay/`: the form, starting at the step `from`, or with the options of the replay `like`; POST launches, or with
    `estimate` shows the cost."""
    session = session_of(access.project, id)
    initial = {
        "kind": request.GET.get("kind", "audit"),
        "from_sequence": whole_number(request.GET.get("from", "")),
    }
    like = replay_named(session, request.GET.get("like", ""))
    if like is not None and like.kind in {"audit", "debug"}:
        initial = as_launched(ReplayOptions(**like.options))
    estimating = is_estimating(request)
    form = ReplayForm(
        model_choices(access.project.id, models_of([session])),
        session,
        sent(request),
        initial=initial,
        estimating=estimating,
    )
    if estimating:
        estimated = form.run(lambda: _estimate(session, form))
        return estimate_alone(request, form, estimated) or _form(request, session, form, estimated=estimated)
    replay = form.run(
        lambda: commands.launch(
            session, form.options(), by=access.user.email, replay_id=form.cleaned_data["form_id"]
        )
    )
    if replay is None:
        return _form(request, session, form)
    enqueue(run_replay, replay.id)
    return redirect("replay", replay.id)


@get_view()
def replay(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/replays/{id}/`: progress and result. Polling gets 204 if nothing changed."""
    found = replay_of(access.project, id)
    waiting = waits_for(found)
    if waiting is None and is_unchanged(request, found.revision):
        return HttpResponse(status=204)
    after = request.GET.get("after", "")
    steps = step_rows(found)
    if after.isdecimal():
        steps = steps.filter(sequence__gt=int(after[:18]))
    shown, last = first_rows(steps, SHOWN_STEPS)
    counts = tally(found)
    context: dict[str, object] = {
        "replay": found,
        "after": after,
        "session": found.session,
        "counts": counts,
        "unknown_reasons": unknown_reasons(found, counts),
        "recorded_reasons": recorded_reasons(found, counts),
        "erased_parts": erased_parts(shown),
        "answer_lines": answer_lines(shown),
        "erased": erased_of_replay(found),
        "seal": listed_seal(sealed_replay(found)),
        "finding": summary.finding(counts),
        "details": summary.details(counts),
        "sentence": summary.sentence(counts),
        "waits_for": waiting,
        "steps": shown,
        "next": last and last.sequence,
        "may_run": access.may(OPERATOR),
        "options": chosen_options(found.options),
        "suite_run": run_of_replay(found) if found.spend_group else None,
        "comparison": comparison_id_of(found) if found.spend_group else None,
        "ending": counts.ending,
        "go_on": form_to_go_on(found, counts.ending),
        "next_message": _next_message(found, counts.ending),
    }
    if found.branch_id is not None:
        context["branch_steps"], last_shown = first_rows(branch_steps_of(found), SHOWN_STEPS)
        context["more_in_branch"] = last_shown is not None
    return page(request, "replays/replay.html", context, parts=("progress",))


@get_view()
def step(request: HttpRequest, access: Access, id: str, sequence: int) -> HttpResponse:
    """`/replays/{id}/steps/{sequence}/`: recorded on the left, replayed on the right. Polling gets 204 if nothing changed."""
    found = replay_of(access.project, id)
    if is_unchanged(request, found.revision):
        return HttpResponse(status=204)
    shown = step_of(found, sequence)
    everything = request.GET.get("all") == "1"
    context = {
        "replay": found,
        "session": found.session,
        "step": shown,
        "everything": everything,
        "sides": side_by_side(shown, everything=everything),
        "beside": neighbours_of(shown),
        "is_over": shown.status in TERMINAL_STEP_STATUSES,
        "may_try": access.may(OPERATOR),
        "erased": erased_of_replay(found),
        "erased_parts": erased_parts([shown]),
    }
    return page(request, "replays/step.html", context, parts=("step",))


@post_view(OPERATOR)
def cancel(_request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Cancel a replay."""
    commands.cancel(replay_of(access.project, id), by=access.user.email)
    return redirect("replay", id)


@post_view(OPERATOR)
def retry(_request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Retry the failed and cancelled steps."""
    retried = commands.retry(replay_of(access.project, id))
    enqueue(run_replay, retried.id)
    return redirect("replay", id)


def _estimate(session: Session, form: ReplayForm) -> Estimate:
    options = form.options()
    found, every = quick_estimate(session, options)
    only_verifies = options.audit and options.use_model is None and not form.lacks_model
    warning = NOTHING_TO_VERIFY if only_verifies and has_nothing_to_verify(session, options) else ""
    return Estimate(found=[found], every=every, warning=warning)


def _form(
    request: HttpRequest, session: Session, form: ReplayForm, *, estimated: Estimate | None = None
) -> HttpResponse:
    counted = Action.objects.filter(HAPPENED_HERE, session=session, kind__in=REPLAYED_KINDS)
    calls = counted.filter(kind=MODEL_CALL).order_by("sequence")
    asks, finds = counted.filter(kind="ask"), counted.filter(kind="find")
    number_of_asks, number_of_calls = asks.count(), calls.count()
    first = calls.select_related("session", "input", "output").first()
    return page(
        request,
        "replays/launch.html",
        status=form.http_status,
        session=session,
        form=form,
        estimated=estimated,
        choices=form.choices(calls=bool(number_of_asks or number_of_calls)),
        asks=number_of_asks,
        finds=finds.exclude(is_find_inside(asks)).count(),
        calls=number_of_calls,
        gaps=None if first is None else gaps_of(first),
        replays=newest_with_counts(session, SHOWN_REPLAYS),
        default_model=settings.DEFAULT_MODEL,
    )


@get_view()
def where_is_it(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/where/?frame=|text=&after=`."""
    session = session_of(access.project, id)
    is_submitted = bool(request.GET.get("frame") or request.GET.get("text"))
    form = WhereForm(request.GET if is_submitted else None)
    found, status = None, form.http_status
    if form.is_valid():
        frame, text, after = (form.cleaned_data[name] for name in ("frame", "text", "after"))
        try:
            found = rank_page(session, frame=frame, text=text, after=after or 0)
        except TimeMachineError as why:
            form.add_error(None, page_message(why))
            status = why.status
    here = {name: request.GET.get(name, "") for name in form.fields}
    return page(
        request,
        "replays/frame_ranks.html",
        status=status,
        session=session,
        form=form,
        here=here,
        found=found,
    )


@form_view(OPERATOR)
def trial(request: HttpRequest, access: Access, id: str, sequence: int) -> HttpResponse:
    """`/sessions/{id}/steps/{sequence}/trial/`: the form filled with the recorded values; POST runs the trial."""
    session = session_of(access.project, id)
    action = step_to_try(session, sequence)
    estimating = is_estimating(request)
    models = model_choices(access.project.id, models_of([session]))
    form = TrialForm(models, action, sent(request), estimating=estimating)
    if estimating:
        estimated = form.run(lambda: _estimate_trial(session, form))
        return estimate_alone(request, form, estimated) or _trial_form(
            request, action, form, estimated=estimated
        )
    replay = form.run(
        lambda: try_step(
            session, form.options(), by=access.user.email, replay_id=form.cleaned_data["form_id"]
        )
    )
    if replay is None:
        return _trial_form(request, action, form)
    enqueue(run_replay, replay.id)
    return redirect("replay_step", replay.id, action.sequence)


def _estimate_trial(session: Session, form: TrialForm) -> Estimate:
    action, options = checked(session, form.options())
    return Estimate(found=[estimate_steps(session, [action], options)])


def _trial_form(
    request: HttpRequest, action: Action, form: TrialForm, *, estimated: Estimate | None = None
) -> HttpResponse:
    return page(
        request,
        "replays/trial.html",
        status=form.http_status,
        session=action.session,
        action=action,
        form=form,
        estimated=estimated,
        hits=frozen.hits_of(action),
        answer=frozen.answer_of(action) if action.kind == "ask" else None,
        recorded_system_prompt=(action.parameters or {}).get("system_prompt"),
        usual_system_prompt="" if form.is_model_call else SYSTEM_PROMPT,
        trials=newest_trials(action.session, action.sequence),
    )


def _next_message(replay: Replay, ending: Ending | None) -> str:
    """Return what the user wrote next in the recording, up to the next model call, if a continuation waits for it; empty if it
    has no step of its own."""
    if ending is None or ending.next_message is None:
        return ""
    later = replay.session.actions.filter(sequence__gte=ending.next_message)
    call = later.filter(kind=MODEL_CALL).order_by("sequence").values_list("sequence", flat=True).first()
    written = later.filter(sequence__lt=call or 0, kind="message", role="user").order_by("sequence")
    return "\n".join(written.values_list("label", flat=True))
