"""Share links over HTTP: create, list, revoke; the policy and the access log."""

from dataclasses import replace

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging
from timemachine.api.access import Caller, caller
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing import log, queries
from timemachine.governance.sharing.commands import links
from timemachine.governance.sharing.models import ShareLink, ShareOpening
from timemachine.governance.sharing.preview import preview_of, preview_of_created
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.schemas import (
    LogLine,
    LogPage,
    ShareCreated,
    ShareIn,
    ShareOut,
    SharePage,
    SharePolicyIn,
    SharePolicyOut,
    SharePreview,
    ShareWarning,
)
from timemachine.text.redaction.queries import profile_of

router = Router(tags=["shares"])


@router.post("", response={201: ShareCreated}, summary="Create a share link")
def make(request: HttpRequest, payload: ShareIn) -> Status[ShareCreated]:
    """Create a link. Its URL is only in this response.

    For a link without a profile, `warning` says how many places the built-in profile would withhold, and of how many steps; the link is created all the same.
    The first 128 KB are searched, for two seconds at most; `POST /shares/preview` of the same request searches more, and creates nothing.
    """
    who = caller(request, "share")
    target, chosen = _target_and_terms(who, payload)
    link, token = links.create_link(who.project, target, chosen, by=who.by)
    link.refresh_from_db()
    warning = ShareWarning.of(preview_of_created(link)) if link.redaction is None else None
    return Status(201, ShareCreated.with_url(link, links.url_of(token), warning))


@router.post("/preview", response=SharePreview, summary="Preview what a share link would show and withhold")
def preview(request: HttpRequest, payload: ShareIn) -> SharePreview:
    """What the link of the same request would show, with the same checks. No link is created. At most 500 steps are read; `read` says how many were.

    `counts` says by rule how often something is withheld, `first` how the first places would read. With `evidence_only` no step is read.
    """
    who = caller(request, "share")
    target, chosen = _target_and_terms(who, payload)
    return SharePreview.of(preview_of(links.unsaved_link(who.project, target, chosen, by=who.by)))


@router.get("", response=SharePage, summary="List share links")
def index(request: HttpRequest, limit: int = paging.DEFAULT, after: str | None = None) -> SharePage:
    """The project's links, newest first, without their secrets."""
    project = caller(request, "share").project
    found = queries.links_of(project).order_by("-id")  # a UUIDv7 begins with its time
    rows, following = paging.ordered_rows(found, limit, after)
    forbidden = queries.policy_of(project).forbidden
    shown = [ShareOut.of(each, forbidden=forbidden) for each in rows]
    return SharePage.model_construct(items=shown, next=following)


@router.get("/policy", response=SharePolicyOut, summary="The policy for share links")
def read_policy(request: HttpRequest) -> SharePolicyOut:
    """Whether links are turned off, whether they need a passphrase, and their maximum lifetime in days. Every change is logged."""
    return SharePolicyOut.from_attributes(queries.policy_of(caller(request, "share").project))


@router.patch("/policy", response=SharePolicyOut, summary="Change the policy for share links")
def change_policy(request: HttpRequest, payload: SharePolicyIn) -> SharePolicyOut:
    """Fields that are left out are not changed. While links are turned off, existing ones do not work."""
    who = caller(request, "admin")
    chosen = replace(queries.policy_of(who.project), **payload.model_dump(exclude_unset=True))
    links.set_policy(who.project, chosen, by=who.by)
    return SharePolicyOut.from_attributes(queries.policy_of(who.project))


@router.get("/policy/changes", response=LogPage, summary="List changes to the policy for share links")
def policy_log(request: HttpRequest, limit: int = paging.DEFAULT, after: str | None = None) -> LogPage:
    """The policy's log, newest first, as a hash chain."""
    project = caller(request, "share").project
    return _log_page(project, queries.policy_changes(project), limit, after)


@router.delete("/{share_id}", response=ShareOut, summary="Revoke a share link")
def revoke(request: HttpRequest, share_id: str) -> ShareOut:
    """Revoke a link permanently, effective from the next request."""
    who = caller(request, "share")
    return ShareOut.of(links.revoke(queries.link_of(who.project, share_id), by=who.by))


@router.get("/{share_id}/opens", response=LogPage, summary="The access log of a share link")
def opens(
    request: HttpRequest, share_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> LogPage:
    """The link's access log, newest first, as a hash chain. `log` is the result of checking it from the first line."""
    link = queries.link_of(caller(request, "share").project, share_id)
    return _log_page(link, queries.openings_of(link), limit, after)


def _target_and_terms(who: Caller, payload: ShareIn) -> tuple[queries.Shareable, Terms]:
    target = queries.target_of(who.project, payload.target_type, payload.target_id)
    redaction = None if payload.redaction is None else profile_of(who.project, payload.redaction)
    fields = payload.model_dump(exclude={"target_type", "target_id", "redaction"})
    return target, Terms(**fields, redaction=redaction)


def _log_page(
    owner: ShareLink | Project, lines: QuerySet[ShareOpening], limit: int, after: str | None
) -> LogPage:
    rows, following = paging.ordered_rows(lines, limit, after, "-sequence", paging.number)
    return LogPage.model_construct(
        items=[LogLine.from_attributes(line) for line in rows], next=following, log=log.checked(owner)
    )
