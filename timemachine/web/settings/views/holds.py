"""Legal holds: place one on a session or on all sessions that match a filter, view and release it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.numbers import counted
from timemachine.governance.deletion.retention import legal_holds
from timemachine.governance.deletion.retention.queries import (
    amount_of,
    held_by,
    hold_of,
    holds_over,
    matching_sessions,
)
from timemachine.governance.deletion.retention.session_filter import NAMES, SessionSelection, read_filter
from timemachine.recording.sessions.holds import holds_on
from timemachine.recording.sessions.models import Hold
from timemachine.recording.sessions.queries import session_of
from timemachine.web import access
from timemachine.web.access import Access
from timemachine.web.http import page
from timemachine.web.redirects import see_other
from timemachine.web.settings.forms.retention import ReasonForm


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def session(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/hold/`: current and past holds of a session; POST places one."""
    who = access.of(request)
    found = session_of(who.project, id)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    status = 200
    if form.is_bound:
        who.require(ADMIN)
        status = 422
        if form.is_valid():
            try:
                legal_holds.place(
                    who.project, reason=form.cleaned_data["reason"], by=who.user.email, sessions=[found]
                )
                messages.success(request, "The session is under legal hold. Nothing in it can be deleted.")
                return see_other("session_hold", found.id)
            except TimeMachineError as why:
                status = form.refuse(why)
    shown = {"session": found, "on": holds_on(found), "holds": list(holds_over(found)), "form": form}
    return page(request, "retention/session_hold.html", shown | _may(who), status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def place(request: HttpRequest) -> HttpResponse:
    """`/holds/new/`: the number of sessions that match the filter in the URL; POST places a hold on them."""
    who = access.of(request)
    who.require(ADMIN)
    asked = {name: request.GET[name] for name in NAMES if request.GET.get(name, "").strip()}
    which = _which(asked)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    status = 200
    if form.is_bound:
        status = 422
        if form.is_valid():
            try:
                made = legal_holds.place(
                    who.project, reason=form.cleaned_data["reason"], by=who.user.email, which=which
                )
                messages.success(request, f"{counted(_number(made), 'session')} under legal hold.")
                return see_other("hold", made.id)
            except TimeMachineError as why:
                status = form.refuse(why)
    shown = {"of": which.words(), "amount": amount_of(matching_sessions(who.project, which)), "form": form}
    return page(request, "retention/place_hold.html", shown, status=status)


@never_cache
@require_safe
def hold(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/holds/{id}/`: a hold with its first sessions."""
    who = access.of(request)
    return _hold(request, who, hold_of(who.project, id), ReasonForm())


@never_cache
@require_POST
def release(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Release a hold, or only for one `session`."""
    who = access.of(request)
    who.require(ADMIN)
    found, form = hold_of(who.project, id), ReasonForm(request.POST)
    if not form.is_valid():
        return _hold(request, who, found, form, status=422)
    only = request.POST.get("session", "")
    try:
        sessions = [session_of(who.project, only)] if only else []
        legal_holds.release(found, reason=form.cleaned_data["reason"], by=who.user.email, sessions=sessions)
    except TimeMachineError as why:
        return _hold(request, who, found, form, status=form.refuse(why))
    messages.success(request, "Legal hold on the session released." if only else "Legal hold released.")
    return see_other("hold", found.id)


def _hold(
    request: HttpRequest, who: Access, found: Hold, form: ReasonForm, *, status: int = 200
) -> HttpResponse:
    words = SessionSelection.model_construct(**found.wanted).words() if found.wanted else ""
    shown = {"hold": found, "of": words, "rows": held_by(found), "form": form}
    return page(request, "retention/hold.html", shown | _may(who), status=status)


def _which(asked: dict[str, Any]) -> SessionSelection:
    days = asked.get("older_than_days", "")
    number = int(days) if days.isascii() and days.isdigit() and len(days) < 7 else 0  # noqa: PLR2004
    return read_filter(asked | ({"older_than_days": number} if days else {}))


def _number(hold: Hold) -> int:
    return int(getattr(hold, "number", 0))


def _may(who: Access) -> dict[str, bool]:
    return {"administers": who.administers}
