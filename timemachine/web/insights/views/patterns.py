"""Patterns (the same error or question in several sessions), a single pattern, and alert rules."""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from timemachine.core.accounts.models import ADMIN, OPERATOR
from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.core.pure.numbers import counted
from timemachine.memory.patterns import rules
from timemachine.memory.patterns.pure.step_texts import KINDS
from timemachine.memory.patterns.queries import (
    PatternFilter,
    alert_of,
    alerts_of,
    pattern_of,
    patterns_after,
    patterns_of,
    patterns_page,
    resolutions_of,
    rule_of,
    rules_of,
    session_place,
    sessions_of,
    trends_of,
    with_current_counts,
    wordings_of,
)
from timemachine.memory.patterns.reader import count_unread
from timemachine.web.access import Access, of
from timemachine.web.http import page
from timemachine.web.insights.forms.patterns import RuleForm
from timemachine.web.redirects import see_other

SHOWN: Final = 50
SHOWN_ALERTS: Final = 20
LIST: Final = "patterns/list.html"
_FILTERS: Final = ("kind", "q", "solved", "since")


@require_safe
def patterns(request: HttpRequest) -> HttpResponse:
    """`/patterns/`: alerts, patterns and rules; `kind`, `q`, `solved` and `since` filter, `after` is the page cursor."""
    return _list(request, of(request), None, 200)


@require_safe
def pattern(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/patterns/{id}/`: how often and where a pattern occurred, and what solved it; `after` is the page cursor. A merged pattern redirects."""
    access = of(request)
    found = pattern_of(access.project, id)
    if str(found.id) != id:
        return see_other("pattern", found.id)
    after = request.GET.get("after", "")
    rows = sessions_of(found, limit=SHOWN + 1, after=after or None)
    wordings = wordings_of(found)
    with_current_counts([found])
    context: dict[str, Any] = {
        "pattern": found,
        "trend": trends_of([found]).get(found.id),
        "resolution": resolutions_of([found.id]).get(found.id),
        "wordings": wordings if len(wordings) > 1 else [],
        "rows": rows[:SHOWN],
        "next": session_place(rows[SHOWN - 1]) if len(rows) > SHOWN else None,
        "after": after,
        "here": {},
    }
    return page(request, "patterns/pattern.html", context)


@require_POST
def make_rule(request: HttpRequest) -> HttpResponse:
    """Create a rule; a form submitted twice creates only one. If refused, show the page again with the error at the field."""
    access = of(request)
    access.require(OPERATOR)
    form = _form(access, request.POST)
    if not form.is_valid():
        return _list(request, access, form, 422)
    given = form.cleaned_data
    try:
        made = rules.create_rule(
            access.project,
            sessions=given["sessions"],
            window=given["window"],
            kind=given["kind"] or None,
            url=given.get("url", ""),
            by=access.user.email,
            rule_id=given["form_id"],
        )
    except TimeMachineError as why:
        return _list(request, access, form, form.refuse(why))
    held = rules.count_alerts(made)
    found = f" {counted(held, 'alert')} raised already." if held else ""
    messages.success(request, f"Rule created.{found}")
    return see_other("patterns", part="rules")


@require_POST
def delete_rule(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Delete a rule with its alerts; a rule with a webhook requires an administrator."""
    access = of(request)
    access.require(OPERATOR)
    found = rule_of(access.project, id)
    if found.url:
        access.require(ADMIN)
    rules.delete_rule(found)
    messages.success(request, "Rule deleted, with its alerts.")
    return see_other("patterns", part="rules")


@require_POST
def seen(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Dismiss an alert."""
    access = of(request)
    access.require(OPERATOR)
    rules.dismiss_alert(alert_of(access.project, id), by=access.user.email)
    return see_other("patterns")


def _form(access: Access, data: Any = None) -> RuleForm:
    form = RuleForm(data)
    return form if access.may(ADMIN) else form.without_address()


def _asked(here: Mapping[str, str]) -> PatternFilter:
    kind, q, solved, since = (here.get(name, "") for name in _FILTERS)
    return PatternFilter(kind=kind, q=q, solved=solved, since=since)


def _list(request: HttpRequest, access: Access, form: RuleForm | None, status: int) -> HttpResponse:
    here = {name: value for name in _FILTERS if (value := request.GET.get(name, "").strip())}
    after = request.GET.get("after", "")
    context: dict[str, Any] = {
        "here": here,
        "after": after,
        "kinds": KINDS,
        "not_read": count_unread(access.project.id),
        "alerts": list(alerts_of(access.project)[:SHOWN_ALERTS]),
        "rules": list(rules_of(access.project)),
        "form": form or (_form(access) if access.may(OPERATOR) else None),
        "may_run": access.may(OPERATOR),
        "may_tell": access.may(ADMIN),
    }
    try:
        asked = _asked(here)
        found = patterns_of(access.project, asked)
        shown, context["next"] = patterns_page(patterns_after(found, after) if after else found, asked, SHOWN)
    except InvalidInput as why:
        return render(request, LIST, context | {"wrong": why}, status=why.status)
    trends = trends_of(shown)
    context["rows"] = [(each, trends.get(each.id)) for each in shown]
    return page(request, LIST, context, parts=("more",), status=status)
