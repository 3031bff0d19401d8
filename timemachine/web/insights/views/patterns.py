"""Patterns (the same error or question in several sessions), a single pattern, and alert rules."""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts.models import ADMIN, OPERATOR
from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.core.pure.numbers import counted
from timemachine.memory.patterns import queries, rules
from timemachine.memory.patterns.pure.step_texts import KINDS
from timemachine.memory.patterns.reader import BACKLOG
from timemachine.web.access import Access, get_view, post_view
from timemachine.web.http import page, see_other
from timemachine.web.insights.forms import RuleForm

SHOWN: Final = 50
SHOWN_ALERTS: Final = 20
LIST: Final = "patterns/list.html"
_FILTERS: Final = ("kind", "q", "solved", "since")


@get_view()
def patterns(request: HttpRequest, access: Access) -> HttpResponse:
    """`/patterns/`: alerts, patterns and rules; `kind`, `q`, `solved` and `since` filter, `after` is the page cursor."""
    return _list(request, access, None, 200)


@get_view()
def pattern(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/patterns/{id}/`: how often and where a pattern occurred, and what solved it; `after` is the page cursor. A merged pattern redirects."""
    found = queries.pattern_of(access.project, id)
    if str(found.id) != id:
        return see_other("pattern", found.id)
    after = request.GET.get("after", "")
    rows = queries.sessions_of(found, limit=SHOWN + 1, after=after or None)
    wordings = queries.wordings_of(found)
    queries.with_current_counts([found])
    context: dict[str, object] = {
        "pattern": found,
        "trend": queries.trends_of([found]).get(found.id),
        "resolution": queries.resolutions_of([found.id]).get(found.id),
        "wordings": wordings if len(wordings) > 1 else [],
        "rows": rows[:SHOWN],
        "next": queries.session_place(rows[SHOWN - 1]) if len(rows) > SHOWN else None,
        "after": after,
        "here": {},
    }
    return page(request, "patterns/pattern.html", context)


@post_view(OPERATOR)
def make_rule(request: HttpRequest, access: Access) -> HttpResponse:
    """Create a rule; a form submitted twice creates only one. If refused, show the page again with the error at the field."""
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


@post_view(OPERATOR)
def delete_rule(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Delete a rule with its alerts; a rule with a webhook requires an administrator."""
    found = queries.rule_of(access.project, id)
    if found.url:
        access.require(ADMIN)
    rules.delete_rule(found)
    messages.success(request, "Rule deleted, with its alerts.")
    return see_other("patterns", part="rules")


@post_view(OPERATOR)
def seen(_request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Dismiss an alert."""
    rules.dismiss_alert(queries.alert_of(access.project, id), by=access.user.email)
    return see_other("patterns")


def _form(access: Access, data: Any = None) -> RuleForm:
    form = RuleForm(data)
    return form if access.may(ADMIN) else form.without_address()


def _filter(here: Mapping[str, str]) -> queries.PatternFilter:
    kind, q, solved, since = (here.get(name, "") for name in _FILTERS)
    return queries.PatternFilter(kind=kind, q=q, solved=solved, since=since)


def _list(request: HttpRequest, access: Access, form: RuleForm | None, status: int) -> HttpResponse:
    here = {name: value for name in _FILTERS if (value := request.GET.get(name, "").strip())}
    after = request.GET.get("after", "")
    context: dict[str, object] = {
        "here": here,
        "after": after,
        "kinds": KINDS,
        "not_read": BACKLOG.count(access.project.id),
        "alerts": list(queries.alerts_of(access.project)[:SHOWN_ALERTS]),
        "rules": list(queries.rules_of(access.project)),
        "form": form or (_form(access) if access.may(OPERATOR) else None),
        "may_run": access.may(OPERATOR),
        "may_tell": access.may(ADMIN),
    }
    try:
        pattern_filter = _filter(here)
        found = queries.patterns_of(access.project, pattern_filter)
        shown, context["next"] = queries.patterns_page(
            queries.patterns_after(found, after) if after else found, pattern_filter, SHOWN
        )
    except InvalidInput as why:
        return page(request, LIST, context, status=why.status, wrong=why)
    trends = queries.trends_of(shown)
    context["rows"] = [(each, trends.get(each.id)) for each in shown]
    return page(request, LIST, context, parts=("more",), status=status)
