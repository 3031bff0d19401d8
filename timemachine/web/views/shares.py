"""Share links as their project sees them: the list, the form that creates one, the log of each, and the end of one."""

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.accounts.models import OPERATOR
from timemachine.base.clock import now
from timemachine.base.errors import Conflict, InvalidInput
from timemachine.comparison.models import Comparison
from timemachine.recording.models import Session
from timemachine.replay.models import Replay
from timemachine.sharing import commands, queries
from timemachine.sharing.models import ACTIVE, ShareLink
from timemachine.sharing.queries import Shareable
from timemachine.web import access
from timemachine.web.access import Access
from timemachine.web.redirects import see_other
from timemachine.web.share_forms import ShareForm

SHOWN_LINKS: Final = 50
SHOWN_OPENINGS: Final = 5
LOG_LINES: Final = 200


@never_cache
@require_safe
def shares(request: HttpRequest) -> HttpResponse:
    """`/shares/`: the project's links, the newest first; `after` is the link to go on from."""
    who = access.of(request)
    links = queries.links_of(who.project)
    if request.GET.get("after"):
        links = queries.links_after(links, queries.link_of(who.project, request.GET["after"]))
    found = list(queries.with_latest_openings(links[: SHOWN_LINKS + 1], SHOWN_OPENINGS + 1))
    facts = {
        "links": [_shown(link) for link in found[:SHOWN_LINKS]],
        "next": found[SHOWN_LINKS - 1].id if len(found) > SHOWN_LINKS else None,
        "may_share": who.may(OPERATOR),
        "shown_openings": SHOWN_OPENINGS,
    }
    return render(request, "shares/list.html", facts)


@never_cache
@require_safe
def link(request: HttpRequest, link_id: UUID) -> HttpResponse:
    """`/shares/{id}/`: one link with its access log."""
    who = access.of(request)
    found = queries.link_of(who.project, link_id)
    lines = list(queries.openings_of(found)[: LOG_LINES + 1])
    facts = {
        "shown": _shown(found),
        "openings": lines[:LOG_LINES],
        "more": len(lines) > LOG_LINES,
        "may_share": who.may(OPERATOR),
    }
    return render(request, "shares/link.html", facts)


@never_cache
@require_POST
def revoke(request: HttpRequest, link_id: UUID) -> HttpResponse:
    """End a link; whoever has it open sees nothing more."""
    who = access.of(request)
    who.require(OPERATOR)
    commands.revoke(queries.link_of(who.project, link_id), by=who.user.email)
    messages.success(request, "The link is revoked. It opens for nobody any more.")
    return see_other("shares")


@never_cache
@sensitive_post_parameters("passphrase")
@require_http_methods(["GET", "HEAD", "POST"])
def share_session(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/share/`: create a link to a session."""
    who = access.of(request)
    who.require(OPERATOR)
    return _create(request, who, queries.target_of(who.project, "session", id))


@never_cache
@sensitive_post_parameters("passphrase")
@require_http_methods(["GET", "HEAD", "POST"])
def share_replay(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/replays/{id}/share/`: create a link to a replay."""
    who = access.of(request)
    who.require(OPERATOR)
    return _create(request, who, queries.target_of(who.project, "replay", id))


@never_cache
@sensitive_post_parameters("passphrase")
@require_http_methods(["GET", "HEAD", "POST"])
def share_comparison(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/comparisons/{id}/share/`: create a link to a comparison."""
    who = access.of(request)
    who.require(OPERATOR)
    return _create(request, who, queries.target_of(who.project, "comparison", id))


def _create(request: HttpRequest, who: Access, target: Shareable) -> HttpResponse:
    form = ShareForm(target, request.POST if request.method == "POST" else None)
    if not form.is_bound:
        return _form(request, target, form, 200)
    if not form.is_valid():
        return _form(request, target, form, 422)
    try:
        made, token = commands.create_link(
            who.project, target, form.terms(), by=who.user.email, link_id=form.cleaned_data["form_id"]
        )
    except (InvalidInput, Conflict) as why:
        return _form(request, target, form, form.refuse(why))
    facts = {"shown": _shown(made), "url": commands.url_of(token)}
    return render(request, "shares/created.html", facts, status=201)


def _form(request: HttpRequest, target: Shareable, form: ShareForm, status: int) -> HttpResponse:
    facts = {
        "session": target if isinstance(target, Session) else None,
        "replay": target if isinstance(target, Replay) else None,
        "comparison": target if isinstance(target, Comparison) else None,
        "form": form,
    }
    return render(request, "shares/form.html", facts, status=status)


def _shown(each: ShareLink) -> dict[str, Any]:
    state = each.state(now())
    return {"link": each, "state": state, "active": state == ACTIVE}
