"""Share links over HTTP: make, list, revoke, see who came."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging, schemas
from timemachine.api.access import caller
from timemachine.api.paging import checked_limit, page
from timemachine.api.paging import read as read_place
from timemachine.base.clock import now, written
from timemachine.sharing import commands
from timemachine.sharing.models import ShareLink
from timemachine.sharing.queries import link_of, links_of, openings_of, target_of
from timemachine.sharing.terms import Terms

router = Router(tags=["shares"])


@router.post("", response={201: dict[str, Any]}, summary="Make a share link")
def make(request: HttpRequest, payload: schemas.ShareIn) -> Status[dict[str, Any]]:
    """A new link; its address is in this answer and nowhere else."""
    who = caller(request, "share")
    target = target_of(who.project, payload.target_type, payload.target_id)
    chosen = Terms(**payload.dict(exclude={"target_type", "target_id"}))
    link, token = commands.create_link(who.project, target, chosen, by=who.by)
    link.refresh_from_db()
    return Status(201, {"id": str(link.id), "url": commands.url_of(token), **share_json(link)})


@router.get("", summary="List share links")
def index(request: HttpRequest, limit: int = 50, after: str | None = None) -> dict[str, Any]:
    """The project's links, newest first, without their secrets."""
    found = links_of(caller(request, "share").project).order_by("-id")  # a UUIDv7 begins with its time
    if after is not None:
        found = found.filter(id__lt=read_place(after, paging.identity))
    rows = list(found[: checked_limit(limit) + 1])
    return page(rows, limit, lambda link: [str(link.id)], share_json)


@router.delete("/{share_id}", summary="Revoke a share link")
def revoke(request: HttpRequest, share_id: str) -> dict[str, Any]:
    """End a link for good, effective on the next request."""
    who = caller(request, "share")
    return share_json(commands.revoke(link_of(who.project, share_id), by=who.by))


@router.get("/{share_id}/opens", summary="Who opened a share link")
def opens(request: HttpRequest, share_id: str) -> dict[str, Any]:
    """The link's access log, newest first."""
    lines = openings_of(link_of(caller(request, "share").project, share_id))
    items = [
        {"at": written(each.at), "result": each.result, "address": each.address, "browser": each.browser}
        for each in lines
    ]
    return {"items": items, "next": None}


def share_json(link: ShareLink) -> dict[str, Any]:
    """A link without its secret; `state` is `active`, `expired`, `revoked` or `exhausted`."""
    return {
        "id": str(link.id),
        "target_type": link.target_type,
        "target_id": str(link.target_id),
        "through_sequence": link.through_sequence,
        "evidence_only": link.evidence_only,
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
        "state": link.state(now()),
    }
