"""Settings of the project, for administrators: its name, other projects, the answer cache, compression, the demo."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from timemachine.core.accounts.commands import projects
from timemachine.core.accounts.models import ADMIN, OPERATOR
from timemachine.core.pure.errors import Conflict
from timemachine.core.pure.numbers import counted
from timemachine.jobs.queue import enqueue
from timemachine.management.demo import commands as demo
from timemachine.recording.annotations.significance import compression
from timemachine.recording.answering import cache as answer_cache
from timemachine.replay.tasks import run_replay
from timemachine.web.access import Access, post_view, switch_project
from timemachine.web.errors import page_message
from timemachine.web.http import page, see_other
from timemachine.web.settings.forms.accounts import CompressionForm, NewProjectForm, ProjectForm
from timemachine.web.settings.views.settings import settings_page

STEP_THAT_WENT_WRONG = 2


@post_view(ADMIN)
def rename(request: HttpRequest, access: Access) -> HttpResponse:
    """Rename the project."""
    form = ProjectForm(request.POST)
    if not form.succeeds(lambda: projects.rename_project(access.project, form.cleaned_data["name"])):
        return settings_page(request, access, project_form=form)
    messages.success(request, "Project renamed.")
    return see_other("settings", part="project")


@post_view(ADMIN)
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """Create another project, with the person as administrator."""
    form = NewProjectForm(request.POST)
    made = form.run(lambda: projects.make_project(form.cleaned_data["name"], administrator=access.user))
    if made is None:
        return settings_page(request, access, new_project_form=form)
    switch_project(request, str(made.pk))
    messages.success(request, f"You are now in {made.name}.")
    return see_other("settings", part="project")


@never_cache
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Switch to another of the person's projects."""
    switch_project(request, request.POST.get("project", ""))
    return see_other("/")


@post_view(ADMIN)
def switch_answer_cache(request: HttpRequest, access: Access) -> HttpResponse:
    """Turn the project's answer cache on, or off for any value other than `on`."""
    on = request.POST.get("switch") == "on"
    answer_cache.switch(access.project, on=on, by=access.user.email)
    messages.success(request, f"The answer cache is {'on' if on else 'off'}.")
    return see_other("settings", part="answer-cache")


@post_view(ADMIN)
def empty_answer_cache(request: HttpRequest, access: Access) -> HttpResponse:
    """Empty the project's answer cache."""
    removed = answer_cache.empty(access.project)
    messages.success(
        request, f"{counted(removed, 'answer')} removed from the cache. Recorded sessions are unchanged."
    )
    return see_other("settings", part="answer-cache")


@post_view(ADMIN)
def set_compression_rule(request: HttpRequest, access: Access) -> HttpResponse:
    """Set the number of days after which the project's sessions are compressed; empty for never."""
    form = CompressionForm(request.POST)
    if not form.is_valid():
        return settings_page(request, access, compression_form=form)
    days = form.cleaned_data["days"]
    compression.set_rule(access.project, days, by=access.user.email)
    messages.success(
        request,
        "Sessions are not compressed automatically."
        if days is None
        else f"Sessions are compressed {counted(days, 'day')} after they end.",
    )
    return see_other("settings", part="compression")


@post_view(OPERATOR)
def load_demo(request: HttpRequest, access: Access) -> HttpResponse:
    """Create the demo in the current project and open it at the step that went wrong."""
    made = demo.load(access.project, by=access.user.email)
    for replay_id in made.replays if made.new else ():
        enqueue(run_replay, replay_id)
    if made.share_url:
        messages.success(request, f"Demo loaded. Its share link, shown only once: {made.share_url}")
    return see_other(reverse("timeline", args=[made.session.id], query={"step": STEP_THAT_WENT_WRONG}))


@post_view(OPERATOR)
def remove_demo(request: HttpRequest, access: Access) -> HttpResponse:
    """Remove the demo; ask first if something was added to it."""
    added = demo.added_to(access.project)
    if added and not request.POST.get("confirmed"):
        return page(request, "record/remove_demo.html", added=added)
    try:
        if demo.remove(access.project):
            messages.success(request, "Demo removed.")
    except Conflict as why:
        messages.error(request, page_message(why))
    return see_other("sessions")
