"""Share links for members of the project: the list, the form to create one, access logs, policy and revocation."""

import logging
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.core.accounts.models import ADMIN, OPERATOR
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotAllowed
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.safe_text import shown
from timemachine.governance.sharing import log, queries
from timemachine.governance.sharing.commands import links
from timemachine.governance.sharing.models import ACTIVE, EXHAUSTED, ShareLink
from timemachine.governance.sharing.preview import preview_of
from timemachine.governance.sharing.pure.policy import Policy
from timemachine.governance.sharing.queries import Shareable
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay
from timemachine.text.redaction.queries import choices_of
from timemachine.text.redaction.schemas import counts_of
from timemachine.web import access
from timemachine.web.access import Access
from timemachine.web.redirects import see_other
from timemachine.web.sharing.forms.shares import PolicyForm, ShareForm

logger = logging.getLogger(__name__)
SHOWN_LINKS: Final = 50
SHOWN_OPENINGS: Final = 5
LOG_LINES: Final = 200
FORBIDDEN: Final = 403


@never_cache
@require_safe
def shares(request: HttpRequest) -> HttpResponse:
    """`/shares/`: the project's links, newest first; `after` is the page cursor."""
    who = access.of(request)
    listed = queries.links_of(who.project)
    if request.GET.get("after"):
        listed = queries.links_after(listed, queries.link_of(who.project, request.GET["after"]))
    shown = queries.with_readers(listed)[: SHOWN_LINKS + 1]
    found = list(queries.with_latest_openings(shown, SHOWN_OPENINGS + 1))
    policy = queries.policy_of(who.project)
    facts = {
        "links": [_shown(link, forbidden=policy.forbidden) for link in found[:SHOWN_LINKS]],
        "policy": policy,
        "revocable": queries.revocable(who.project).count() if who.may(OPERATOR) else 0,
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
        "shown": _shown(
            queries.with_readers(queries.links_of(who.project)).get(pk=found.pk),
            forbidden=queries.policy_of(who.project).forbidden,
        ),
        "log": log.checked(found),
        "openings": lines[:LOG_LINES],
        "tried": any(line.by is None for line in lines),
        "more": len(lines) > LOG_LINES,
        "may_share": who.may(OPERATOR),
    }
    return render(request, "shares/link.html", facts)


@never_cache
@require_POST
def revoke(request: HttpRequest, link_id: UUID) -> HttpResponse:
    """Revoke a link, also for visitors who have it open."""
    who = access.of(request)
    who.require(OPERATOR)
    ended = links.revoke(queries.link_of(who.project, link_id), by=who.user.email)
    messages.success(request, _revoked(ended))
    return see_other("shares")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def revoke_all(request: HttpRequest) -> HttpResponse:
    """`/shares/revoke/`: the confirmation; POST revokes all active links."""
    who = access.of(request)
    who.require(OPERATOR)
    if request.method != "POST":
        return render(
            request, "shares/revoke_all.html", {"revocable": queries.revocable(who.project).count()}
        )
    ended = links.revoke_all(who.project, by=who.user.email)
    messages.success(request, f"{counted(ended, 'link')} revoked. They no longer work.")
    return see_other("shares")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def policy(request: HttpRequest) -> HttpResponse:
    """`/settings/sharing/`: the project's policy for share links and its history; administrators can change it."""
    who = access.of(request)
    current = queries.policy_of(who.project)
    form = PolicyForm(request.POST if request.method == "POST" else None, initial=asdict(current))
    if form.is_bound:
        who.require(ADMIN)
        if form.is_valid():
            links.set_policy(who.project, Policy(**form.cleaned_data), by=who.user.email)
            messages.success(request, "Sharing policy saved.")
            return see_other("share_policy")
    facts = {
        "form": form,
        "policy": current,
        "administers": who.administers,
        "open": (queries.openable if current.forbidden else queries.open_links)(who.project).count(),
        "changes": queries.policy_changes(who.project)[:LOG_LINES],
        "log": log.checked(who.project),
    }
    return render(request, "shares/policy.html", facts, status=422 if form.errors else 200)


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


def _revoked(link: ShareLink) -> str:
    """Return the confirmation of a revoked link, with its target and label."""
    label = format_html(", “<bdi>{}</bdi>”,", shown(link.label)) if link.label else ""
    return format_html(
        "The link to <bdi>{}</bdi>{} is revoked. It stopped working immediately, also for visitors who have it open.",
        shown(link.name),
        label,
    )


def _create(request: HttpRequest, who: Access, target: Shareable) -> HttpResponse:
    policy = queries.policy_of(who.project)
    data = request.POST if request.method == "POST" else None
    form = ShareForm(target, policy, data, profiles=choices_of(who.project), through=_looked_at(request))
    if policy.forbidden:
        return _form(request, target, form, FORBIDDEN)
    if not form.is_bound:
        return _form(request, target, form, 200)
    if not form.is_valid():
        return _form(request, target, form, 422)
    try:
        if "preview" in request.POST:
            would_be = links.unsaved_link(who.project, target, form.terms(), by=who.user.email)
            return _form(request, target, form, 200, preview=_preview(would_be))
        unaware = _unaware(links.unsaved_link(who.project, target, form.terms(), by=who.user.email))
        made, token = links.create_link(
            who.project, target, form.terms(), by=who.user.email, link_id=form.cleaned_data["form_id"]
        )
    except (InvalidInput, NotAllowed, Conflict) as why:
        return _form(request, target, form, form.refuse(why))
    facts = {
        "shown": _shown(made),
        "url": links.url_of(token),
        "preview": unaware,
    }
    return render(request, "shares/created.html", facts, status=201)


def _unaware(link: ShareLink) -> dict[str, Any] | None:
    """Return the matches of the built-in profile for a link without redaction; None if the search fails, which does not prevent creating the link."""
    if link.redaction is not None:
        return None
    try:
        return _preview(link)
    except Exception:
        logger.exception(
            "The content of a link to the %s %s could not be searched", link.target_type, link.target_id
        )
        return None


def _looked_at(request: HttpRequest) -> str | None:
    """Return the step to share from: the one in the URL, or that of the timeline the person came from."""
    before = urlsplit(request.headers.get("Referer", ""))
    steps = parse_qs(before.query).get("step") if before.netloc == request.get_host() else None
    return request.GET.get("step") or (steps[0] if steps else None)


def _form(
    request: HttpRequest,
    target: Shareable,
    form: ShareForm,
    status: int,
    preview: dict[str, Any] | None = None,
) -> HttpResponse:
    facts = {
        "session": target if isinstance(target, Session) else None,
        "replay": target if isinstance(target, Replay) else None,
        "comparison": target if isinstance(target, Comparison) else None,
        "form": form,
        "forbidden": status == FORBIDDEN,
        "preview": preview,
    }
    return render(request, "shares/form.html", facts, status=status)


def _preview(link: ShareLink) -> dict[str, Any]:
    """Return a preview of a link: what it shows, what its profile withholds, or what the built-in one matches; nothing is stored."""
    found = preview_of(link)
    return {"of": found, "counts": counts_of(found.tally or found.found)}


def _shown(each: ShareLink, *, forbidden: bool = False) -> dict[str, Any]:
    state = each.state(now(), forbidden=forbidden)
    return {
        "link": each,
        "state": state,
        "active": state == ACTIVE,
        "still_read": state == EXHAUSTED and not forbidden and getattr(each, "readers", 0),
    }
