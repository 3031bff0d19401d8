"""Retention rules, bulk deletions and legal holds of the project."""

from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict
from timemachine.core.pure.numbers import counted, whole_number
from timemachine.governance.deletion.retention import commands, legal_holds, models, queries, retention
from timemachine.governance.deletion.retention.retention import FLOOR_DAYS, describe, is_early
from timemachine.governance.deletion.retention.session_filter import NAMES, SessionSelection, read_filter
from timemachine.governance.tasks import run_deletion
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.holds import held_among, holds_on
from timemachine.recording.sessions.models import Hold
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import Access, form_view, get_view, post_view
from timemachine.web.errors import page_message
from timemachine.web.form_parts import sent
from timemachine.web.http import page, see_other
from timemachine.web.settings.forms.retention import ReasonForm, RuleForm, WhichForm

SHOWN: Final = 20


@form_view(fresh=True)
def settings(request: HttpRequest, access: Access) -> HttpResponse:
    """`/settings/retention/`: rules with what each would delete today, deletions and holds. A filter in the URL fills the form.

    POST previews a rule, and with `confirmed` sets it; with `change` the form is shown again.
    """
    if request.method != "POST":
        parameters = {name: request.GET[name] for name in NAMES if name in request.GET}
        return _settings(request, access, RuleForm(), WhichForm(initial=parameters))
    access.require(ADMIN)
    form = RuleForm(request.POST)
    if "change" in request.POST:
        return _settings(request, access, form, WhichForm())
    if "confirmed" not in request.POST:
        preview = form.run(lambda: retention.preview(access.project, **form.cleaned_data))
        return _preview(request, preview, form) if preview else _settings(request, access, form, WhichForm())
    made = form.run(lambda: retention.set_rule(access.project, by=access.user.email, **form.cleaned_data))
    if made is None:
        return _settings(request, access, form, WhichForm())
    messages.success(request, f"Rule set: {describe(made)}.")
    return see_other("retention")


@post_view(ADMIN)
def remove_rule(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Remove a rule."""
    removed = retention.remove_rule(queries.rule_of(access.project, id), by=access.user.email)
    messages.success(request, f"Rule removed: {describe(removed)}.")
    return see_other("retention")


@post_view(ADMIN)
def prepare(request: HttpRequest, access: Access) -> HttpResponse:
    """Find the matching sessions; nothing is deleted yet. With `do=hold`, redirect to the page that places a hold, with the filter in its URL."""
    form = WhichForm(request.POST)
    which = form.run(form.which)
    if which is not None and request.POST.get("do") == "hold":
        return see_other(reverse("place_hold", query=which.given))
    made = form.run(lambda: commands.prepare(access.project, form.which(), by=access.user.email))
    if made is None:
        return _settings(request, access, RuleForm(), form)
    return see_other("forgetting", made.id)


@get_view(ADMIN, fresh=True)
def bulk_deletion(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/forgettings/{id}/`: preview, progress and result of a bulk deletion."""
    return _deletion_page(request, access, queries.bulk_deletion_of(access.project, id), ReasonForm())


@post_view(ADMIN)
def confirm(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Start deleting the found sessions."""
    found, form = queries.bulk_deletion_of(access.project, id), ReasonForm(request.POST)
    confirmed = form.run(
        lambda: commands.confirm(found, reason=form.cleaned_data["reason"], by=access.user.email)
    )
    if confirmed is None:
        return _deletion_page(request, access, queries.bulk_deletion_of(access.project, id), form)
    enqueue(run_deletion, found.id)
    return see_other("forgetting", found.id)


@post_view(ADMIN)
def cancel(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Cancel the deletion of the remaining sessions."""
    found = queries.bulk_deletion_of(access.project, id)
    try:
        found = commands.cancel(found)
    except Conflict as why:
        messages.error(request, page_message(why))
    else:
        if found.confirmed_at is None:
            return see_other("retention")
    return see_other("forgetting", found.id)


def _preview(request: HttpRequest, found: retention.Preview, form: RuleForm) -> HttpResponse:
    return page(
        request,
        "retention/set_rule.html",
        preview=found,
        says=describe(found.rule),
        replaced=found.replaced and describe(found.replaced),
        early=is_early(found.rule.days),
        floor=FLOOR_DAYS,
        later=found.first if found.first and found.first > now() else None,
        form=form,
    )


def _settings(
    request: HttpRequest, access: Access, rule_form: RuleForm, which_form: WhichForm
) -> HttpResponse:
    rules = list(queries.rules_of(access.project))
    deletions = list(queries.bulk_deletions_of(access.project).exclude(status=models.FOUND)[:SHOWN])
    outcomes = queries.outcomes_by_deletion(deletions)
    return page(
        request,
        "retention/settings.html",
        status=max(rule_form.http_status, which_form.http_status),
        rules=[(rule, describe(rule), is_early(rule.days), _due(rule, rules)) for rule in rules],
        floor=FLOOR_DAYS,
        rule_form=rule_form,
        which_form=which_form,
        forgettings=[(each, outcomes[each.id], _words(each)) for each in deletions],
        singly=queries.single_deletions(access.project, SHOWN),
        holds=list(queries.holds_of(access.project)[:SHOWN]),
        administers=access.administers,
    )


def _due(rule: models.RetentionRule, rules: list[models.RetentionRule]) -> queries.SessionCounts | None:
    """Return what the rule would delete today; None if it deletes nothing."""
    return None if rule.days is None else queries.amount_of(queries.due_by(rule, rules))


def _words(found: models.BulkDeletion) -> str:
    return SessionSelection.model_construct(**found.wanted).words()


def _deletion_page(
    request: HttpRequest, access: Access, found: models.BulkDeletion, form: ReasonForm
) -> HttpResponse:
    outcome = queries.outcomes_by_deletion([found])[found.id]
    rows = list(queries.sessions_of(found)[: queries.SHOWN])
    there = queries.existing_sessions(rows, access.project)
    on_hold = held_among(there)
    is_found = found.status == models.FOUND
    held = queries.held_count(found) if is_found else outcome.states.get("held", 0)
    goes = is_found and outcome.sessions > held
    return page(
        request,
        "retention/bulk_deletion.html",
        parts=("forgetting",),
        status=form.http_status,
        forgetting=found,
        of=_words(found),
        outcome=outcome,
        over=outcome.sessions - outcome.states.get("waiting", 0),
        every=goes and queries.is_every(found),
        held=held,
        rows=[
            (row, there.get(row.session), row.state == models.WAITING and row.session in on_hold)
            for row in rows
        ],
        may_confirm=goes,
        waits=found.status == models.RUNNING,
        form=form,
    )


@form_view(fresh=True)
def session_hold(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/hold/`: current and past holds of a session; POST places one."""
    found = session_of(access.project, id)
    if request.method == "POST":
        access.require(ADMIN)
    form = ReasonForm(sent(request))
    made = form.run(
        lambda: legal_holds.place(
            access.project, reason=form.cleaned_data["reason"], by=access.user.email, sessions=[found]
        )
    )
    if made is not None:
        messages.success(request, "The session is under legal hold. Nothing in it can be deleted.")
        return see_other("session_hold", found.id)
    return page(
        request,
        "retention/session_hold.html",
        status=form.http_status,
        session=found,
        on=holds_on(found),
        holds=list(queries.holds_over(found)),
        form=form,
        administers=access.administers,
    )


@form_view(ADMIN, fresh=True)
def place_hold(request: HttpRequest, access: Access) -> HttpResponse:
    """`/holds/new/`: the number of sessions that match the filter in the URL; POST places a hold on them."""
    parameters = {name: request.GET[name] for name in NAMES if request.GET.get(name, "").strip()}
    days = parameters.pop("older_than_days", "")
    which = read_filter({**parameters, "older_than_days": (whole_number(days) or 0) if days else None})
    form = ReasonForm(sent(request))
    made = form.run(
        lambda: legal_holds.place(
            access.project, reason=form.cleaned_data["reason"], by=access.user.email, which=which
        )
    )
    if made is not None:
        held = int(getattr(made, "number", 0))
        messages.success(request, f"{counted(held, 'session')} under legal hold.")
        return see_other("hold", made.id)
    amount = queries.amount_of(queries.matching_sessions(access.project, which))
    return page(
        request,
        "retention/place_hold.html",
        status=form.http_status,
        of=which.words(),
        amount=amount,
        form=form,
    )


@get_view(fresh=True)
def hold(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/holds/{id}/`: a hold with its first sessions."""
    return _hold(request, access, queries.hold_of(access.project, id), ReasonForm())


@post_view(ADMIN)
def release_hold(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Release a hold, or only for one `session`."""
    found, form = queries.hold_of(access.project, id), ReasonForm(request.POST)
    only = request.POST.get("session", "")
    released = form.run(
        lambda: legal_holds.release(
            found,
            reason=form.cleaned_data["reason"],
            by=access.user.email,
            sessions=[session_of(access.project, only)] if only else [],
        )
    )
    if released is None:
        return _hold(request, access, found, form)
    messages.success(request, "Legal hold on the session released." if only else "Legal hold released.")
    return see_other("hold", found.id)


def _hold(request: HttpRequest, access: Access, found: Hold, form: ReasonForm) -> HttpResponse:
    return page(
        request,
        "retention/hold.html",
        status=form.http_status,
        hold=found,
        of=SessionSelection.model_construct(**found.wanted).words() if found.wanted else "",
        rows=queries.held_by(found),
        form=form,
        administers=access.administers,
    )
