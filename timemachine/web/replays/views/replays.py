"""Replays: the launch form, progress and result, one step side by side."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.core.pure.errors import TimeMachineError
from timemachine.evidence.queries import sealed_replay
from timemachine.evidence.seal_status import listed_seal
from timemachine.evidence.sealing.erased_since import erased_of_replay
from timemachine.governance.deletion.erasure.queries import erased_parts
from timemachine.jobs.queue import enqueue
from timemachine.llm.queries import model_choices
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.comparison.models import ComparisonReplay
from timemachine.replay.runs import commands
from timemachine.replay.runs.estimate import Estimate
from timemachine.replay.runs.estimate import estimate_replays as estimated_cost
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES
from timemachine.replay.runs.pure.summary import sentence
from timemachine.replay.runs.queries import replay_of, replays_of, step_of, step_rows, tallies, tally
from timemachine.replay.suites.queries import run_of_replay
from timemachine.replay.tasks import run_replay
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.replays.forms.replays import ReplayForm, chosen_options
from timemachine.web.replays.presenters.side_by_side import pair_of, side_by_side

SHOWN_STEPS = 200
SHOWN_REPLAYS = 20
MOST_DIGITS = 18


@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/replay/`: the form, starting at the step `from`; POST launches, or with `estimate` shows the cost."""
    access = of(request)
    access.require("operator")
    session = session_of(access.project, id)
    data = request.POST if request.method == "POST" else None
    initial = {"kind": request.GET.get("kind", "audit"), "from_sequence": _first_step(request)}
    form = ReplayForm(model_choices(access.project.id), session, data, initial=initial)
    if data is None or not form.is_valid():
        return _form(request, session, form, status=200 if data is None else 422)
    try:
        if "estimate" in data:
            found = estimated_cost([session], [form.options()])
            return _form(request, session, form, estimated=found[0])
        form_id = form.cleaned_data["form_id"]
        replay = commands.launch(session, form.options(), by=access.user.email, replay_id=form_id)
    except TimeMachineError as why:
        return _form(request, session, form, status=form.refuse(why))
    enqueue(run_replay, replay.id)
    return redirect("replay", replay.id)


@require_safe
def replay(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/replays/{id}/`: progress and result. Polling gets 204 if nothing changed."""
    access = of(request)
    found = replay_of(access.project, id)
    if _no_news(request, found):
        return HttpResponse(status=204)
    after = request.GET.get("after", "")
    steps = step_rows(found)
    if after.isdecimal():
        steps = steps.filter(sequence__gt=int(after[:18]))
    shown = list(steps[: SHOWN_STEPS + 1])
    counts = tally(found)
    context: dict[str, Any] = {
        "replay": found,
        "after": after,
        "session": found.session,
        "counts": counts,
        "erased_parts": erased_parts(shown),
        "erased": erased_of_replay(found),
        "seal": listed_seal(sealed_replay(found)),
        "sentence": sentence(counts),
        "steps": shown[:SHOWN_STEPS],
        "next": shown[SHOWN_STEPS - 1].sequence if len(shown) > SHOWN_STEPS else None,
        "may_run": access.may("operator"),
        "options": chosen_options(found.options),
        "suite_run": run_of_replay(found) if found.spend_group else None,
        "comparison": _comparison_of(found) if found.spend_group else None,
    }
    return page(request, "replays/replay.html", context, parts=("progress",))


@require_safe
def step(request: HttpRequest, id: str, sequence: int) -> HttpResponse:  # noqa: A002
    """`/replays/{id}/steps/{sequence}/`: recorded on the left, replayed on the right. Polling gets 204 if nothing changed."""
    access = of(request)
    found = replay_of(access.project, id)
    if _no_news(request, found):
        return HttpResponse(status=204)
    shown = step_of(found, sequence)
    everything = request.GET.get("all") == "1"
    context = {
        "replay": found,
        "session": found.session,
        "step": shown,
        "everything": everything,
        "sides": side_by_side(pair_of(shown), everything=everything),
        "beside": _beside(found, shown),
        "is_over": shown.status in TERMINAL_STEP_STATUSES,
        "may_try": access.may("operator"),
        "erased": erased_of_replay(found),
        "erased_parts": erased_parts([shown]),
    }
    return page(request, "replays/step.html", context, parts=("step",))


@require_POST
def cancel(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Cancel a replay."""
    access = of(request)
    access.require("operator")
    commands.cancel(replay_of(access.project, id), by=access.user.email)
    return redirect("replay", id)


@require_POST
def retry(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Retry the failed and cancelled steps."""
    access = of(request)
    access.require("operator")
    again = commands.retry(replay_of(access.project, id))
    enqueue(run_replay, again.id)
    return redirect("replay", id)


def _no_news(request: HttpRequest, found: Replay) -> bool:
    return request.GET.get("rev") == str(found.revision) and request.headers.get("HX-Request") == "true"


def _first_step(request: HttpRequest) -> int | None:
    """Return the first step given in the URL; None if it is not a number."""
    written = request.GET.get("from", "")[:MOST_DIGITS]
    return int(written) if written.isascii() and written.isdigit() else None


def _form(
    request: HttpRequest,
    session: Session,
    form: ReplayForm,
    *,
    status: int = 200,
    estimated: Estimate | None = None,
) -> HttpResponse:
    counted = Action.objects.filter(session=session, kind__in=("find", "ask"))
    context = {
        "session": session,
        "form": form,
        "estimated": estimated,
        "asks": counted.filter(kind="ask").count(),
        "finds": counted.filter(kind="find").count(),
        "replays": _earlier(session),
        "default_model": settings.DEFAULT_MODEL,
    }
    return render(request, "replays/launch.html", context, status=status)


def _comparison_of(found: Replay) -> UUID | None:
    of_it = ComparisonReplay.objects.filter(replay=found)
    return of_it.values_list("comparison_id", flat=True).first()


def _earlier(session: Session) -> list[Replay]:
    """Return the session's replays that belong to no comparison or suite run, with their results so far."""
    found = list(replays_of(session).filter(run=None, suite_replay=None)[:SHOWN_REPLAYS])
    counts = tallies(found)
    for each in found:
        each.counts = counts[each.id]  # type: ignore[attr-defined]
    return found


def _beside(found: Replay, shown: ReplayStep) -> dict[str, int | None]:
    steps = ReplayStep.objects.filter(replay=found).order_by("sequence").values_list("sequence", flat=True)
    return {
        "previous": steps.filter(sequence__lt=shown.sequence).last(),
        "next": steps.filter(sequence__gt=shown.sequence).first(),
    }
