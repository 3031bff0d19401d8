"""Load and remove the demo."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST

from timemachine.core.pure.errors import Conflict
from timemachine.jobs.queue import enqueue
from timemachine.management.demo import commands
from timemachine.replay.tasks import run_replay
from timemachine.web.access import of
from timemachine.web.redirects import see_other

STEP_THAT_WENT_WRONG = 2


@require_POST
def load(request: HttpRequest) -> HttpResponse:
    """Create the demo in the current project and open it at the step that went wrong."""
    access = of(request)
    access.require("operator")
    made = commands.load(access.project, by=access.user.email)
    for replay_id in made.replays if made.new else ():
        enqueue(run_replay, replay_id)
    if made.share_url:
        messages.success(request, f"Demo loaded. Its share link, shown only once: {made.share_url}")
    return see_other(f"{reverse('timeline', args=[made.session.id])}?step={STEP_THAT_WENT_WRONG}")


@require_POST
def remove(request: HttpRequest) -> HttpResponse:
    """Remove the demo; ask first if something was added to it."""
    access = of(request)
    access.require("operator")
    added = commands.added_to(access.project)
    if added and not request.POST.get("confirmed"):
        return render(request, "record/remove_demo.html", {"added": added})
    try:
        if commands.remove(access.project):
            messages.success(request, "Demo removed.")
    except Conflict as why:
        messages.error(request, why.message)
    return see_other("sessions")
