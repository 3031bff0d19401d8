"""`/settings/redaction/`: the project's redaction profiles, and a form to try one. Nothing tried is stored."""

import json
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.errors import TimeMachineError
from timemachine.recording.sessions.queries import action_of, session_of
from timemachine.recording.timeline.actions import with_everything
from timemachine.recording.timeline.schemas.actions import ActionOut
from timemachine.text.redaction import commands
from timemachine.text.redaction.pure.profile import BUILT_IN, BUILT_IN_HANDLE
from timemachine.text.redaction.pure.projection import redact_action
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.text import redact_text
from timemachine.text.redaction.pure.values import tally_of
from timemachine.text.redaction.queries import as_profile, choices_of, profile_of, profile_row, versions_of
from timemachine.text.redaction.schemas import RuleCount, counts_of
from timemachine.web import access
from timemachine.web.access import Access
from timemachine.web.redirects import see_other
from timemachine.web.settings.forms.redaction import ProfileForm, TryForm

SHOWN: Final = 40_000
"""Characters shown of a redacted step; the whole step is redacted first."""
VERSIONS: Final = 20


@never_cache
@sensitive_post_parameters("text")
@require_http_methods(["GET", "HEAD", "POST"])
def profiles(request: HttpRequest) -> HttpResponse:
    """The profiles, and the form: `profile`, `session` and `step` fill it in; POST tries it."""
    who = access.of(request)
    choices = choices_of(who.project)
    data = request.POST if request.method == "POST" else None
    form = TryForm(choices, data, request.GET.get("profile", ""))
    context: dict[str, Any] = {"profiles": choices, "form": form, "may_change": who.administers}
    status = 200
    if data is not None:
        found, status = _tried(who, form)
        context["outcome"] = found
    return render(request, "redaction/list.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """`/settings/redaction/new/`: the form; POST creates the profile."""
    who = access.of(request)
    who.require(ADMIN)
    form = ProfileForm(request.POST if request.method == "POST" else None)
    if not form.is_bound or not form.is_valid():
        return _form(request, form, status=422 if form.is_bound else 200)
    said = form.cleaned_data
    try:
        made = commands.make_profile(
            who.project, said["name"], form.rules(), by=who.user.email, profile_id=said["form_id"]
        )
    except TimeMachineError as why:
        return _form(request, form, status=form.refuse(why))
    messages.success(request, f"Profile {made.name} created. You can now choose it for share links.")
    return see_other("redaction")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/settings/redaction/{id}/`: one version with its rules; administrators can edit, and POST creates the next version."""
    who = access.of(request)
    if id == BUILT_IN_HANDLE:
        return _form(request, ProfileForm(profile=BUILT_IN), profile=BUILT_IN)
    row = profile_row(who.project, id)
    shown, versions = as_profile(row), list(versions_of(who.project, row.name)[:VERSIONS])
    facts: dict[str, Any] = {"profile": shown, "row": row, "versions": versions, "newest": versions[0]}
    facts["may_change"] = who.administers and versions[0].id == row.id and row.retired_at is None
    if request.method != "POST":
        return _form(request, ProfileForm(profile=shown), **facts)
    who.require(ADMIN)
    form = ProfileForm(request.POST, profile=shown)
    if not form.is_valid():
        return _form(request, form, status=422, **facts)
    try:
        made = commands.change_profile(row, form.rules(), by=who.user.email)
    except TimeMachineError as why:
        return _form(request, form, status=form.refuse(why), **facts)
    messages.success(request, f"Version {made.version} of {made.name} is now used.")
    return see_other("redaction_profile", made.id)


@never_cache
@require_POST
def retire(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Retire a profile, so that it cannot be chosen any more."""
    who = access.of(request)
    who.require(ADMIN)
    gone = commands.retire_profile(profile_row(who.project, id), by=who.user.email)
    messages.success(request, f"Profile {gone.name} retired. Existing links keep it.")
    return see_other("redaction")


def _form(request: HttpRequest, form: ProfileForm, *, status: int = 200, **facts: Any) -> HttpResponse:
    return render(request, "redaction/profile.html", {"form": form, **facts}, status=status)


def _tried(who: Access, form: TryForm) -> tuple[dict[str, Any] | None, int]:
    """Return the result of a trial and the HTTP status; no result if the form has errors."""
    if not form.is_valid():
        return None, 422
    said = form.cleaned_data
    chosen = profile_of(who.project, said["profile"])
    try:
        found = _of_text(said["text"], chosen.rules) if said["text"] else _of_step(who, said, chosen.rules)
    except TimeMachineError as why:
        form.add_error("sequence" if why.code == "step_not_found" else "session", why.message)
        return None, why.status
    return found | {"profile": chosen}, 200


def _of_text(text: str, rules: Rules) -> dict[str, Any]:
    found = redact_text(text, rules)
    return _outcome(found.text, counts_of(tally_of(found.findings)))


def _of_step(who: Access, said: dict[str, Any], rules: Rules) -> dict[str, Any]:
    session = session_of(who.project, said["session"])
    sequence = action_of(session, said["sequence"]).sequence
    action = with_everything(session.actions.filter(sequence=sequence)).get()
    found = redact_action(ActionOut.of(action).model_dump(), rules)
    text = json.dumps(found.document, ensure_ascii=False, indent=2)
    return _outcome(text, counts_of(found.tally)) | {
        "step": sequence,
        "session": session,
        "touched": found.touched,
    }


def _outcome(text: str, counts: list[RuleCount]) -> dict[str, Any]:
    total = sum(each.count for each in counts)
    return {"text": text[:SHOWN], "cut": len(text) > SHOWN, "counts": counts, "total": total}
