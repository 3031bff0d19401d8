"""Share links for members of the project: the list, the form to create one, access logs, policy and revocation."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters

from timemachine.core.accounts.models import ADMIN, OPERATOR
from timemachine.core.pure.clock import now
from timemachine.core.pure.numbers import counted, whole_number
from timemachine.evidence.log.keys import existing_key
from timemachine.governance.sharing import log, queries
from timemachine.governance.sharing.commands import links
from timemachine.governance.sharing.models import ACTIVE, EXHAUSTED, ShareLink
from timemachine.governance.sharing.preview import Preview, preview_of, preview_of_created
from timemachine.governance.sharing.pure.terms import Policy
from timemachine.governance.sharing.queries import Shareable
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.models import Session
from timemachine.text.redaction.pure.profile import BUILT_IN
from timemachine.text.redaction.queries import choices_of
from timemachine.text.redaction.schemas import RuleCount, counts_of
from timemachine.web.access import Access, form_view, get_view, post_view
from timemachine.web.form_parts import sent
from timemachine.web.http import first_rows, page, requested_part, see_other
from timemachine.web.sharing.forms import PolicyForm, ShareForm
from timemachine.web.sharing.presenters.object_head import object_head
from timemachine.web.sharing.views import shared

SCOPE: Final = ("through_sequence", "redaction", "evidence_only", "lifetime", "until")
"""The fields that decide what a link shows and how long."""
PARTS: Final = ("readable",)
SHOWN_LINKS: Final = 50
SHOWN_OPENINGS: Final = 5
LOG_LINES: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLink:
    """A link with its state, and the number of visitors who still read a link that is used up."""

    link: ShareLink
    state: str
    active: bool
    still_read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPreview:
    """What a link would show, and the matches of a redaction profile in it."""

    of: Preview
    counts: Sequence[RuleCount]


@get_view(fresh=True)
def shares(request: HttpRequest, access: Access) -> HttpResponse:
    """`/shares/`: the project's links, newest first; `after` is the page cursor."""
    listed = queries.links_of(access.project)
    if request.GET.get("after"):
        listed = queries.links_after(listed, queries.link_of(access.project, request.GET["after"]))
    listed = queries.with_latest_openings(queries.with_readers(listed), SHOWN_OPENINGS + 1)
    found, last = first_rows(listed, SHOWN_LINKS)
    policy = queries.policy_of(access.project)
    facts = {
        "links": [_shown(link, forbidden=policy.forbidden) for link in found],
        "policy": policy,
        "revocable": queries.revocable(access.project).count() if access.may(OPERATOR) else 0,
        "next": last and last.id,
        "may_share": access.may(OPERATOR),
        "shown_openings": SHOWN_OPENINGS,
    }
    return page(request, "shares/list.html", facts)


@get_view(fresh=True)
def link(request: HttpRequest, access: Access, link_id: UUID) -> HttpResponse:
    """`/shares/{id}/`: one link with its access log."""
    found = queries.link_of(access.project, link_id)
    lines = list(queries.openings_of(found)[: LOG_LINES + 1])
    shown = _shown(
        queries.with_readers(queries.links_of(access.project)).get(pk=found.pk),
        forbidden=queries.policy_of(access.project).forbidden,
    )
    facts = {
        "shown": shown,
        "link": shown.link,
        "log": log.checked(found),
        "openings": lines[:LOG_LINES],
        "tried": any(line.by is None for line in lines),
        "more": len(lines) > LOG_LINES,
        "may_share": access.may(OPERATOR),
    }
    return page(request, "shares/link.html", facts)


@post_view(OPERATOR)
def revoke(request: HttpRequest, access: Access, link_id: UUID) -> HttpResponse:
    """Revoke a link, also for visitors who have it open."""
    ended = links.revoke(queries.link_of(access.project, link_id), by=access.user.email)
    messages.success(request, render_to_string("shares/revoked.html", {"link": ended}))
    return see_other("shares")


@form_view(OPERATOR, fresh=True)
def revoke_all(request: HttpRequest, access: Access) -> HttpResponse:
    """`/shares/revoke/`: the confirmation; POST revokes all active links."""
    if request.method != "POST":
        return page(request, "shares/revoke_all.html", revocable=queries.revocable(access.project).count())
    ended = links.revoke_all(access.project, by=access.user.email)
    messages.success(request, f"{counted(ended, 'link')} revoked. They no longer work.")
    return see_other("shares")


@form_view(fresh=True)
def policy(request: HttpRequest, access: Access) -> HttpResponse:
    """`/settings/sharing/`: the project's policy for share links and its history; administrators can change it."""
    current = queries.policy_of(access.project)
    if request.method == "POST":
        access.require(ADMIN)
    form = PolicyForm(sent(request), initial=asdict(current))
    if form.is_valid():
        links.set_policy(access.project, Policy(**form.cleaned_data), by=access.user.email)
        messages.success(request, "Sharing policy saved.")
        return see_other("share_policy")
    shown = queries.openable if current.forbidden else queries.open_links
    return page(
        request,
        "shares/policy.html",
        status=form.http_status,
        form=form,
        policy=current,
        administers=access.administers,
        open=shown(access.project).count(),
        changes=queries.policy_changes(access.project)[:LOG_LINES],
        log=log.checked(access.project),
    )


@sensitive_post_parameters("passphrase")
@form_view(OPERATOR, fresh=True)
def share(request: HttpRequest, access: Access, id: str, of: str) -> HttpResponse:
    """`/sessions/{id}/share/`, `/replays/…`, `/comparisons/…`: create a link."""
    target = queries.target_of(access.project, of, id)
    policy, data = queries.policy_of(access.project), sent(request)
    form = ShareForm(
        target, policy, data, profiles=choices_of(access.project), through=_looked_at(request, target)
    )
    if policy.forbidden:
        return _form(request, target, form, forbidden=True)
    if requested_part(request, PARTS):
        return _form(request, target, form, readable=_readable(access, target, form))
    if "look" in request.POST and form.succeeds(lambda: _unsaved(access, target, form)):
        chosen = {name: form.data[name] for name in SCOPE if form.data.get(name)}
        return see_other(reverse(f"look_{of}", args=[id], query=chosen))
    if "preview" in request.POST:
        found = form.run(lambda: _preview(_unsaved(access, target, form)))
        return _form(request, target, form, preview=found, readable=found)
    made = None if "look" in request.POST else form.run(lambda: _created(access, target, form))
    if made is None:
        return _form(request, target, form)
    (link, token), unaware = made
    return page(
        request,
        "shares/created.html",
        object_head(target),
        shown=_shown(link),
        url=links.url_of(token),
        passphrase=form.cleaned_data["passphrase"],
        evidence_key=existing_key(access.project),
        preview=unaware,
        status=201,
    )


@get_view(OPERATOR, fresh=True)
def look(request: HttpRequest, access: Access, id: str, of: str) -> HttpResponse:
    """`/sessions/{id}/share/look/`, …: what a link with this scope would show its visitors; nothing is stored."""
    target = queries.target_of(access.project, of, id)
    policy = queries.policy_of(access.project)
    form = ShareForm(target, policy, request.GET, profiles=choices_of(access.project))
    link = links.unsaved_link(access.project, target, form.visible_terms(), by=access.user.email)
    chosen = {name: request.GET[name] for name in SCOPE if request.GET.get(name)}
    return shared.look(request, Scope(link=link), chosen)


def _readable(access: Access, target: Shareable, form: ShareForm) -> ShownPreview | None:
    """Return what the chosen profile withholds, or what the built-in one would; None if a profile is missing."""
    chosen = form.visible_terms()
    if chosen.redaction is None and form.fields["redaction"].required:
        return None
    return _preview(links.unsaved_link(access.project, target, chosen, by=access.user.email))


def _unsaved(access: Access, target: Shareable, form: ShareForm) -> ShareLink:
    return links.unsaved_link(access.project, target, form.terms(), by=access.user.email)


def _created(
    access: Access, target: Shareable, form: ShareForm
) -> tuple[tuple[ShareLink, str], ShownPreview | None]:
    """Create the link. Return it with its token, and what the built-in profile matches in a link without redaction.

    If the search fails, the link is created all the same.
    """
    link = _unsaved(access, target, form)
    found = preview_of_created(link) if link.redaction is None else None
    unaware = None if found is None else ShownPreview(of=found, counts=counts_of(found.found))
    by, form_id = access.user.email, form.cleaned_data["form_id"]
    return links.create_link(access.project, target, form.terms(), by=by, link_id=form_id), unaware


def _looked_at(request: HttpRequest, target: Shareable) -> int | None:
    """Return the step to share from, with what is folded into it: the one in the URL, or that of the timeline the person came from."""
    before = urlsplit(request.headers.get("Referer", ""))
    steps = parse_qs(before.query).get("step") if before.netloc == request.get_host() else None
    step = whole_number(request.GET.get("step") or (steps[0] if steps else ""))
    return queries.last_step_with(target, step) if step is not None and isinstance(target, Session) else step


def _form(
    request: HttpRequest,
    target: Shareable,
    form: ShareForm,
    *,
    preview: ShownPreview | None = None,
    readable: ShownPreview | None = None,
    forbidden: bool = False,
) -> HttpResponse:
    return page(
        request,
        "shares/form.html",
        object_head(target),
        status=403 if forbidden else 200 if requested_part(request, PARTS) else form.http_status,
        form=form,
        forbidden=forbidden,
        preview=preview,
        readable=readable,
        built_in=BUILT_IN.handle,
        parts=PARTS,
    )


def _preview(link: ShareLink) -> ShownPreview:
    """Return a preview of a link: what it shows, what its profile withholds, or what the built-in one matches; nothing is stored."""
    found = preview_of(link)
    return ShownPreview(of=found, counts=counts_of(found.tally or found.found))


def _shown(link: ShareLink, *, forbidden: bool = False) -> ShownLink:
    state = link.state(now(), forbidden=forbidden)
    readers = getattr(link, "readers", 0) if state == EXHAUSTED and not forbidden else 0
    return ShownLink(link=link, state=state, active=state == ACTIVE, still_read=readers)
