"""Retention rules, bulk deletions and legal holds of the project."""

from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, TimeMachineError
from timemachine.governance.deletion.retention import commands, retention
from timemachine.governance.deletion.retention.models import (
    FOUND,
    RUNNING,
    WAITING,
    BulkDeletion,
    RetentionRule,
)
from timemachine.governance.deletion.retention.queries import (
    amount_of,
    bulk_deletion_of,
    bulk_deletions_of,
    due_by,
    existing_sessions,
    held_count,
    holds_of,
    is_every,
    outcomes_by_deletion,
    rule_of,
    rules_of,
    sessions_of,
    single_deletions,
)
from timemachine.governance.deletion.retention.retention import FLOOR_DAYS, describe, is_early
from timemachine.governance.deletion.retention.session_filter import NAMES, SessionSelection
from timemachine.governance.tasks import run_deletion
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.holds import held_among
from timemachine.web import access
from timemachine.web.access import Access
from timemachine.web.http import page
from timemachine.web.redirects import see_other
from timemachine.web.settings.forms.retention import ReasonForm, RuleForm, WhichForm

SHOWN: Final = 20


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """`/settings/retention/`: rules with what each would delete today, deletions and holds. A filter in the URL fills the form.

    POST previews a rule, and with `confirmed` sets it; with `change` the form is shown again.
    """
    who = access.of(request)
    if request.method != "POST":
        return _settings(request, who, RuleForm(), WhichForm(initial=_asked(request)))
    who.require(ADMIN)
    form = RuleForm(request.POST)
    if not form.is_valid():
        return _settings(request, who, form, WhichForm(), status=422)
    if "change" in request.POST:
        return _settings(request, who, form, WhichForm())
    try:
        if "confirmed" not in request.POST:
            return _preview(request, form)
        made = retention.set_rule(who.project, by=who.user.email, **form.values())
    except TimeMachineError as why:
        return _settings(request, who, form, WhichForm(), status=form.refuse(why))
    messages.success(request, f"Rule set: {describe(made)}.")
    return see_other("retention")


@never_cache
@require_POST
def remove_rule(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Remove a rule."""
    who = access.of(request)
    who.require(ADMIN)
    gone = retention.remove_rule(rule_of(who.project, id), by=who.user.email)
    messages.success(request, f"Rule removed: {describe(gone)}.")
    return see_other("retention")


@never_cache
@require_POST
def prepare(request: HttpRequest) -> HttpResponse:
    """Find the matching sessions; nothing is deleted yet. With `do=hold`, redirect to the page that places a hold, with the filter in its URL."""
    who = access.of(request)
    who.require(ADMIN)
    form = WhichForm(request.POST)
    if not form.is_valid():
        return _settings(request, who, RuleForm(), form, status=422)
    try:
        if request.POST.get("do") == "hold":
            return see_other(f"{reverse('place_hold')}?{urlencode(form.which().given)}")
        made = commands.prepare(who.project, form.which(), by=who.user.email)
    except TimeMachineError as why:
        return _settings(request, who, RuleForm(), form, status=form.refuse(why))
    return see_other("forgetting", made.id)


@never_cache
@require_safe
def forgetting(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/forgettings/{id}/`: preview, progress and result of a bulk deletion."""
    who = access.of(request)
    who.require(ADMIN)
    return _deletion_page(request, who, bulk_deletion_of(who.project, id), ReasonForm())


@never_cache
@require_POST
def confirm(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Start deleting the found sessions."""
    who = access.of(request)
    who.require(ADMIN)
    found, form = bulk_deletion_of(who.project, id), ReasonForm(request.POST)
    if not form.is_valid():
        return _deletion_page(request, who, found, form, status=422)
    try:
        commands.confirm(found, reason=form.cleaned_data["reason"], by=who.user.email)
    except TimeMachineError as why:
        return _deletion_page(request, who, bulk_deletion_of(who.project, id), form, status=form.refuse(why))
    enqueue(run_deletion, found.id)
    return see_other("forgetting", found.id)


@never_cache
@require_POST
def cancel(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Cancel the deletion of the remaining sessions."""
    who = access.of(request)
    who.require(ADMIN)
    found = bulk_deletion_of(who.project, id)
    try:
        found = commands.cancel(found)
    except Conflict as why:
        messages.error(request, why.message)
        return see_other("forgetting", found.id)
    if found.confirmed_at is None:
        return see_other("retention")
    return see_other("forgetting", found.id)


def _preview(request: HttpRequest, form: RuleForm) -> HttpResponse:
    found = retention.preview(access.of(request).project, **form.values())
    moment = now()
    shown = {
        "preview": found,
        "says": describe(found.rule),
        "replaced": found.replaced and describe(found.replaced),
        "early": is_early(found.rule.days),
        "floor": FLOOR_DAYS,
        "later": found.first if found.first and found.first > moment else None,
        "form": form,
    }
    return page(request, "retention/set_rule.html", shown)


def _asked(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET[name] for name in NAMES if name in request.GET}


def _settings(
    request: HttpRequest, who: Access, rule_form: RuleForm, which_form: WhichForm, *, status: int = 200
) -> HttpResponse:
    rules = list(rules_of(who.project))
    forgettings = list(bulk_deletions_of(who.project).exclude(status=FOUND)[:SHOWN])
    outcomes = outcomes_by_deletion(forgettings)
    shown = {
        "rules": [_rule(rule, rules) for rule in rules],
        "floor": FLOOR_DAYS,
        "rule_form": rule_form,
        "which_form": which_form,
        "forgettings": [_line(each, outcomes[each.id]) for each in forgettings],
        "singly": single_deletions(who.project, SHOWN),
        "holds": list(holds_of(who.project)[:SHOWN]),
        "administers": who.administers,
    }
    return page(request, "retention/settings.html", shown, status=status)


def _rule(rule: RetentionRule, rules: list[RetentionRule]) -> dict[str, Any]:
    due = None if rule.days is None else amount_of(due_by(rule, rules))
    return {"rule": rule, "says": describe(rule), "early": is_early(rule.days), "due": due}


def _line(found: BulkDeletion, outcome: Any) -> dict[str, Any]:
    when = found.confirmed_at or found.requested_at
    return {"forgetting": found, "outcome": outcome, "of": _words(found), "when": when}


def _words(found: BulkDeletion) -> str:
    return SessionSelection.model_construct(**found.wanted).words()


def _deletion_page(
    request: HttpRequest, who: Access, found: BulkDeletion, form: ReasonForm, *, status: int = 200
) -> HttpResponse:
    outcome = outcomes_by_deletion([found])[found.id]
    rows = sessions_of(found)
    there = existing_sessions(rows, who.project)
    on_hold = held_among(there)
    waiting = outcome.states.get("waiting", 0)
    is_found = found.status == FOUND
    held = held_count(found) if is_found else outcome.states.get("held", 0)
    goes = is_found and outcome.sessions > held
    shown = {
        "forgetting": found,
        "of": _words(found),
        "outcome": outcome,
        "over": outcome.sessions - waiting,
        "every": goes and is_every(found),
        "held": held,
        "rows": [
            (row, there.get(row.session), row.state == WAITING and row.session in on_hold) for row in rows
        ],
        "may_confirm": goes,
        "waits": found.status == RUNNING,
        "form": form,
    }
    return page(request, "retention/bulk_deletion.html", shown, parts=("forgetting",), status=status)
