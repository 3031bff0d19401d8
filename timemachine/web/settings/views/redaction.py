"""`/settings/redaction/`: the project's redaction profiles, and a form to try one. Nothing tried is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.debug import sensitive_post_parameters

from timemachine.core.accounts.models import ADMIN, Project
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.schemas.actions import action_out
from timemachine.text.redaction import commands
from timemachine.text.redaction.pure.profile import BUILT_IN, BUILT_IN_HANDLE, Profile
from timemachine.text.redaction.pure.projection import redact_action
from timemachine.text.redaction.pure.text import redact_text
from timemachine.text.redaction.pure.values import tally_of
from timemachine.text.redaction.queries import as_profile, choices_of, profile_of, profile_row, versions_of
from timemachine.text.redaction.schemas import RuleCount, counts_of
from timemachine.web.access import Access, form_view, post_view
from timemachine.web.form_parts import sent
from timemachine.web.formatting import Excerpt, excerpt, json_excerpt
from timemachine.web.http import page, see_other
from timemachine.web.settings.forms.redaction import ProfileForm, TryForm

SHOWN: Final = 40_000
"""Characters shown of a redacted step; the whole step is redacted first."""
VERSIONS: Final = 20
PROFILE: Final = "redaction/profile.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of trying a profile on a text, or on a step with its `touched` fields."""

    profile: Profile
    shown: Excerpt
    counts: Sequence[RuleCount]
    session: Session | None = None
    step: int | None = None
    touched: Sequence[str] = ()

    @property
    def total(self) -> int:
        """Return the number of matches."""
        return sum(each.count for each in self.counts)


@sensitive_post_parameters("text")
@form_view(fresh=True)
def profiles(request: HttpRequest, access: Access) -> HttpResponse:
    """The profiles, and the form: `profile`, `session` and `step` fill it in; POST tries it."""
    choices = choices_of(access.project)
    form = TryForm(choices, sent(request), request.GET.get("profile", ""))
    return page(
        request,
        "redaction/list.html",
        outcome=form.run(lambda: _tried(access.project, form.cleaned_data)),
        profiles=choices,
        form=form,
        may_change=access.administers,
        status=form.http_status,
    )


@form_view(ADMIN, fresh=True)
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """`/settings/redaction/new/`: the form; POST creates the profile."""
    form = ProfileForm(sent(request))
    made = form.run(
        lambda: commands.make_profile(
            access.project,
            form.cleaned_data["name"],
            form.rules(),
            by=access.user.email,
            profile_id=form.cleaned_data["form_id"],
        )
    )
    if made is None:
        return page(request, PROFILE, form=form, status=form.http_status)
    messages.success(request, f"Profile {made.name} created. You can now choose it for share links.")
    return see_other("redaction")


@form_view(fresh=True)
def profile(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/settings/redaction/{id}/`: one version with its rules; administrators can edit, and POST creates the next version."""
    if id == BUILT_IN_HANDLE:
        return page(request, PROFILE, form=ProfileForm(profile=BUILT_IN), profile=BUILT_IN)
    row = profile_row(access.project, id)
    shown, versions = as_profile(row), list(versions_of(access.project, row.name)[:VERSIONS])
    if request.method == "POST":
        access.require(ADMIN)
    form = ProfileForm(sent(request), profile=shown)
    made = form.run(lambda: commands.change_profile(row, form.rules(), by=access.user.email))
    if made is not None:
        messages.success(request, f"Version {made.version} of {made.name} is now used.")
        return see_other("redaction_profile", made.id)
    return page(
        request,
        PROFILE,
        form=form,
        profile=shown,
        row=row,
        versions=versions,
        newest=versions[0],
        may_change=access.administers and versions[0].id == row.id and row.retired_at is None,
        status=form.http_status,
    )


@post_view(ADMIN)
def retire(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Retire a profile, so that it cannot be chosen any more."""
    profile = commands.retire_profile(profile_row(access.project, id), by=access.user.email)
    messages.success(request, f"Profile {profile.name} retired. Existing links keep it.")
    return see_other("redaction")


def _tried(project: Project, data: Mapping[str, Any]) -> Outcome:
    """Return the result of a profile on the text or the step of the form."""
    chosen = profile_of(project, data["profile"])
    if data["text"]:
        redacted = redact_text(data["text"], chosen.rules)
        counts = counts_of(tally_of(redacted.findings))
        return Outcome(profile=chosen, shown=excerpt(redacted.text, SHOWN), counts=counts)
    session = session_of(project, data["session"])
    action = action_out(session, data["sequence"])
    found = redact_action(action.model_dump(), chosen.rules)
    return Outcome(
        profile=chosen,
        shown=json_excerpt(found.document, SHOWN),
        counts=counts_of(found.tally),
        session=session,
        step=action.sequence,
        touched=found.touched,
    )
