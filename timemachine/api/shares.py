"""Share links over HTTP: make, list, revoke, see who came."""

from dataclasses import asdict, replace
from functools import partial
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging, schemas
from timemachine.api.access import Caller, caller
from timemachine.api.paging import checked_limit, page
from timemachine.api.paging import read as read_place
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now, written
from timemachine.governance.sharing import commands, log
from timemachine.governance.sharing.models import ShareLink, ShareOpening
from timemachine.governance.sharing.preview import Preview, preview_of
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.queries import (
    Shareable,
    link_of,
    links_of,
    openings_of,
    policy_changes,
    policy_of,
    target_of,
)
from timemachine.text.redaction.document import tally_json
from timemachine.text.redaction.queries import profile_of

router = Router(tags=["shares"])


@router.post("", response={201: dict[str, Any]}, summary="Make a share link")
def make(request: HttpRequest, payload: schemas.ShareIn) -> Status[dict[str, Any]]:
    """A new link; its address is in this answer and nowhere else."""
    who = caller(request, "share")
    target, chosen = _wanted(who, payload)
    link, token = commands.create_link(who.project, target, chosen, by=who.by)
    link.refresh_from_db()
    return Status(201, {"id": str(link.id), "url": commands.url_of(token), **share_json(link)})


@router.post("/preview", summary="What a share link would show and withhold")
def preview(request: HttpRequest, payload: schemas.ShareIn) -> dict[str, Any]:
    """What the same body would make, checked as it would be; no link is made. At most 500 steps are read; `read` says how many were.

    `counts` says by rule how often something is withheld, `first` how the first places would read. With `evidence_only` no step is read.
    """
    who = caller(request, "share")
    target, chosen = _wanted(who, payload)
    return preview_json(preview_of(commands.link_to(who.project, target, chosen, by=who.by)))


@router.get("", summary="List share links")
def index(request: HttpRequest, limit: int = 50, after: str | None = None) -> dict[str, Any]:
    """The project's links, newest first, without their secrets."""
    project = caller(request, "share").project
    found = links_of(project).order_by("-id")  # a UUIDv7 begins with its time
    if after is not None:
        found = found.filter(id__lt=read_place(after, paging.identity))
    rows = list(found[: checked_limit(limit) + 1])
    forbidden = policy_of(project).forbidden
    return page(rows, limit, lambda link: [str(link.id)], partial(share_json, forbidden=forbidden))


@router.get("/policy", summary="What the project allows of share links")
def read_policy(request: HttpRequest) -> dict[str, Any]:
    """Whether links are forbidden, need a passphrase, and how many days one may live; every change is a line of a log."""
    return _policy_json(caller(request, "share").project)


@router.patch("/policy", summary="Change what the project allows of share links")
def change_policy(request: HttpRequest, payload: schemas.SharePolicyIn) -> dict[str, Any]:
    """What is left out stays. Where links are forbidden, those there are open for nobody, until they are allowed again."""
    who = caller(request, "admin")
    chosen = replace(policy_of(who.project), **payload.model_dump(exclude_unset=True))
    commands.set_policy(who.project, chosen, by=who.by)
    return _policy_json(who.project)


@router.get("/policy/changes", summary="Who changed what the project allows of share links")
def policy_log(request: HttpRequest, limit: int = 50, after: str | None = None) -> dict[str, Any]:
    """The log of the policy, newest first, as a chain of hashes."""
    project = caller(request, "share").project
    lines = policy_changes(project)
    if after is not None:
        lines = lines.filter(sequence__lt=read_place(after, paging.number))
    rows = list(lines[: checked_limit(limit) + 1])
    return page(rows, limit, lambda line: [line.sequence], _line_json) | {"log": _log_json(project)}


@router.delete("/{share_id}", summary="Revoke a share link")
def revoke(request: HttpRequest, share_id: str) -> dict[str, Any]:
    """End a link for good, effective on the next request."""
    who = caller(request, "share")
    return share_json(commands.revoke(link_of(who.project, share_id), by=who.by))


@router.get("/{share_id}/opens", summary="Who opened a share link")
def opens(request: HttpRequest, share_id: str, limit: int = 50, after: str | None = None) -> dict[str, Any]:
    """The link's access log, newest first, as a chain of hashes; `log` says what reading it again from the first line found."""
    link = link_of(caller(request, "share").project, share_id)
    lines = openings_of(link)
    if after is not None:
        lines = lines.filter(sequence__lt=read_place(after, paging.number))
    rows = list(lines[: checked_limit(limit) + 1])
    return page(rows, limit, lambda line: [line.sequence], _line_json) | {"log": _log_json(link)}


def _wanted(who: Caller, payload: schemas.ShareIn) -> tuple[Shareable, Terms]:
    """What shall be shared, and how."""
    target = target_of(who.project, payload.target_type, payload.target_id)
    redaction = None if payload.redaction is None else profile_of(who.project, payload.redaction)
    said = payload.model_dump(exclude={"target_type", "target_id", "redaction"})
    return target, Terms(**said, redaction=redaction)


def _policy_json(project: Project) -> dict[str, Any]:
    return policy_of(project).as_json()


def _line_json(line: ShareOpening) -> dict[str, Any]:
    """A line of the log; its hash is over all of it and the hash of the line before."""
    return {
        "sequence": line.sequence,
        "at": written(line.at),
        "result": line.result,
        "by": line.by,
        "address": line.address,
        "browser": line.browser,
        "facts": line.facts,
        "previous_sha256": line.previous_sha256,
        "sha256": line.sha256,
    }


def _log_json(owner: ShareLink | Project) -> dict[str, Any]:
    """How long the log is, the hash of its last line, and the first line that does not fit; `broken` None where it is whole."""
    found = log.checked(owner)
    broken = None if found.broken is None else asdict(found.broken)
    return {"lines": found.lines, "sha256": found.sha256, "broken": broken}


def preview_json(found: Preview) -> dict[str, Any]:
    """What a link would show, as it would be named and read; nothing of it is kept."""
    link = found.link
    return {
        "target_type": link.target_type,
        "target_id": str(link.target_id),
        "through_sequence": link.through_sequence,
        "evidence_only": link.evidence_only,
        "redaction": _profile_json(link),
        "sessions": [{"id": str(each.id), "name": each.name, "agent": each.agent} for each in found.sessions],
        "steps": found.steps,
        "read": found.read,
        "withheld": found.total,
        "counts": tally_json(found.tally),
        "found": tally_json(found.found),
        "first": [
            {
                "session": str(each.session.id),
                "sequence": each.sequence,
                "field": each.field,
                "text": each.text,
            }
            for each in found.lines
        ],
    }


def _profile_json(link: ShareLink) -> dict[str, Any] | None:
    return link.redaction and {name: link.redaction[name] for name in ("name", "version")}


def share_json(link: ShareLink, *, forbidden: bool = False) -> dict[str, Any]:
    """A link without its secret; `state` is `active`, `expired`, `revoked`, `exhausted` or `forbidden`."""
    return {
        "id": str(link.id),
        "target_type": link.target_type,
        "target_id": str(link.target_id),
        "target_name": link.name,
        "through_sequence": link.through_sequence,
        "evidence_only": link.evidence_only,
        "redaction": _profile_json(link),
        "label": link.label,
        "created_by": link.created_by,
        "created_at": written(link.created_at),
        "expires_at": written(link.expires_at),
        "revoked_at": written(link.revoked_at),
        "revoked_by": link.revoked_by,
        "max_opens": link.max_opens,
        "opens": link.opens,
        "last_open_at": written(link.last_open_at),
        "passphrase": link.passphrase_hash is not None,
        "state": link.state(now(), forbidden=forbidden),
    }
