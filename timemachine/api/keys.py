"""API keys over HTTP: make, list, revoke."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import schemas
from timemachine.api.access import caller
from timemachine.core.accounts.commands import make_api_key, revoke_api_key
from timemachine.core.accounts.models import ApiKey
from timemachine.core.accounts.queries import key as key_of
from timemachine.core.accounts.queries import keys_of
from timemachine.core.pure.clock import written

router = Router(tags=["keys"])


@router.post("", response={201: dict[str, Any]}, summary="Make a key")
def make(request: HttpRequest, payload: schemas.KeyIn) -> Status[dict[str, Any]]:
    """A new key of this project; the key itself is in this answer and nowhere else."""
    project = caller(request, "admin").project
    made, plain = make_api_key(
        project, name=payload.name, scopes=payload.scopes, expires_at=payload.expires_at, by=None
    )
    return Status(201, {**key_json(made), "key": plain})


@router.get("", summary="List keys")
def index(request: HttpRequest) -> dict[str, Any]:
    """The project's keys, without their secrets."""
    return {"items": [key_json(each) for each in keys_of(caller(request, "admin").project)], "next": None}


@router.delete("/{key_id}", summary="Revoke a key")
def revoke(request: HttpRequest, key_id: str) -> dict[str, Any]:
    """Revoke a key, effective on the next request."""
    found = key_of(caller(request, "admin").project, key_id)
    revoke_api_key(found)
    return key_json(found)


def key_json(key: ApiKey) -> dict[str, Any]:
    """A key without its secret."""
    return {
        "id": key.id,
        "name": key.name,
        "scopes": key.scopes,
        "created_at": written(key.created_at),
        "expires_at": written(key.expires_at),
        "revoked_at": written(key.revoked_at),
        "last_used_at": written(key.last_used_at),
    }
