"""Evidence over HTTP: seals, comparisons with the database, bundles, and the keys that sign."""

from typing import Any, Final

from django.http import FileResponse, HttpRequest
from ninja import Router, Status

from timemachine.api import routers
from timemachine.api.access import caller
from timemachine.api.comparisons import router as comparisons
from timemachine.api.openapi import file_answer
from timemachine.api.replays import router as replays
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.core.pure.schemas import Strict
from timemachine.evidence import commands
from timemachine.evidence.bundles.downloads import bundle_of, download
from timemachine.evidence.bundles.kinds import KINDS
from timemachine.evidence.log import anchors, keys, project_log
from timemachine.evidence.models import COMPARISON, REPLAY, SESSION, SigningKey
from timemachine.evidence.queries import check_json, check_of, keys_of
from timemachine.evidence.tasks import check_seal
from timemachine.governance.sharing import log_heads
from timemachine.jobs.queue import enqueue

router = Router(tags=["evidence"])
_ZIP: Final = file_answer("application/zip")


class AnchorsIn(Strict):
    """Addresses of a witness (C2SP's `tlog-witness`) and of a timestamp authority (RFC 3161)."""

    witness: str | None = None
    timestamp: str | None = None


@routers.sessions.get(
    "/{session_id}/evidence",
    tags=["evidence"],
    summary="The evidence of a session, a zip",
    openapi_extra=_ZIP,
)
def of_session(request: HttpRequest, session_id: str) -> FileResponse:
    """Everything that was recorded, with what it takes to check it without this server: see README.txt in the zip."""
    return bundle_of(caller(request, "read").project, SESSION, session_id)


@replays.get(
    "/{replay_id}/evidence", tags=["evidence"], summary="The evidence of a replay, a zip", openapi_extra=_ZIP
)
def of_replay(request: HttpRequest, replay_id: str) -> FileResponse:
    """A replay that is over, with the recorded steps that it repeats, and what it takes to check both without this server."""
    return bundle_of(caller(request, "read").project, REPLAY, replay_id)


@comparisons.get(
    "/{comparison_id}/evidence",
    tags=["evidence"],
    summary="The evidence of a comparison, a zip",
    openapi_extra=_ZIP,
)
def of_comparison(request: HttpRequest, comparison_id: str) -> FileResponse:
    """A comparison that is over: every cell, what the figures show, what was said of cells, and the recorded steps that they repeat."""
    return bundle_of(caller(request, "read").project, COMPARISON, comparison_id)


@routers.sessions.get("/{session_id}/seal", tags=["evidence"], summary="The seal of a session")
def seal_of_session(request: HttpRequest, session_id: str) -> dict[str, Any]:
    """How far it is sealed, by which key, and what came of the last check."""
    return _seal(request, SESSION, session_id)


@replays.get("/{replay_id}/seal", tags=["evidence"], summary="The seal of a replay")
def seal_of_replay(request: HttpRequest, replay_id: str) -> dict[str, Any]:
    """Whether its last run is sealed, by which key, and what came of the last check."""
    return _seal(request, REPLAY, replay_id)


@comparisons.get("/{comparison_id}/seal", tags=["evidence"], summary="The seal of a comparison")
def seal_of_comparison(request: HttpRequest, comparison_id: str) -> dict[str, Any]:
    """Whether its last run is sealed with all that was said of it, by which key, and what came of the last check."""
    return _seal(request, COMPARISON, comparison_id)


@routers.sessions.post(
    "/{session_id}/seal/check",
    tags=["evidence"],
    response={202: dict[str, Any]},
    summary="Check a session's seal",
)
def check_session(request: HttpRequest, session_id: str) -> Status[dict[str, Any]]:
    """Compare all that stands in the database with the seal; a long session is compared in the background."""
    return _check(request, SESSION, session_id)


@replays.post(
    "/{replay_id}/seal/check",
    tags=["evidence"],
    response={202: dict[str, Any]},
    summary="Check a replay's seal",
)
def check_replay(request: HttpRequest, replay_id: str) -> Status[dict[str, Any]]:
    """Compare all that stands in the database with the seal of a replay."""
    return _check(request, REPLAY, replay_id)


@comparisons.post(
    "/{comparison_id}/seal/check",
    tags=["evidence"],
    response={202: dict[str, Any]},
    summary="Check a comparison's seal",
)
def check_comparison(request: HttpRequest, comparison_id: str) -> Status[dict[str, Any]]:
    """Compare all that stands in the database with the seal of a comparison."""
    return _check(request, COMPARISON, comparison_id)


@router.get("", summary="The evidence of a project's log, a zip", openapi_extra=_ZIP)
def of_log(request: HttpRequest) -> FileResponse:
    """Every entry of the log with every root that was signed, and what of it is there now: a session that was dropped is named."""
    project = caller(request, "admin").project
    return download("evidence-log.zip", lambda target: log_heads.write_log(target, project))


@router.get("/checks/{check_id}", summary="What came of a check")
def read_check(request: HttpRequest, check_id: str) -> dict[str, Any]:
    """`result` is `intact`, `altered` with each problem, or null while it runs."""
    return check_json(check_of(caller(request, "read").project, check_id))


@router.get("/keys", summary="The keys that sign evidence")
def list_keys(request: HttpRequest) -> dict[str, Any]:
    """The project's public keys, the one in use first; none where nothing was signed yet."""
    project = caller(request, "read").project
    return {"items": [key_json(each) for each in keys_of(project)], "next": None}


@router.post("/keys", response={201: dict[str, Any]}, summary="Replace the key that signs evidence")
def replace_key(request: HttpRequest) -> Status[dict[str, Any]]:
    """What is signed from now on is signed by a new key; the log names it under the signature of the one before."""
    who = caller(request, "admin")
    return Status(201, key_json(project_log.replace_key(who.project, by=who.by)))


@router.get("/anchors", summary="Who outside is told of the log")
def read_anchors(request: HttpRequest) -> dict[str, Any]:
    """The witness and the timestamp authority, how much of the log they took and when, or what went wrong; null where there is none."""
    return _anchors(caller(request, "read").project)


@router.patch("/anchors", summary="Set who outside is told of the log")
def set_anchors(request: HttpRequest, payload: AnchorsIn) -> dict[str, Any]:
    """Another address begins anew; an empty one tells nobody any more, and one that is left out stays."""
    who = caller(request, "admin")
    for kind, url in payload.model_dump(exclude_none=True).items():
        anchors.set_anchor(who.project, kind, url, by=who.by)
    return _anchors(who.project)


def _anchors(project: Project) -> dict[str, Any]:
    found = anchors.anchors_of(project)
    told = {kind: anchors.anchor_json(found[kind]) if kind in found else None for kind in anchors.KINDS}
    return told | {"witness_key": anchors.key_for_witness(project)}


def key_json(key: SigningKey) -> dict[str, Any]:
    """A public key as the API gives it."""
    return {
        "fingerprint": key.fingerprint,
        "pem": keys.pem(bytes(key.public_key)),
        "created_at": written(key.created_at),
        "created_by": key.created_by,
        "replaced_at": written(key.replaced_at),
        "replaced_by": key.replaced_by,
    }


def _seal(request: HttpRequest, of: str, id: str) -> dict[str, Any]:  # noqa: A002
    return KINDS[of].sealed(KINDS[of].find(caller(request, "read").project, id)).as_json()


def _check(request: HttpRequest, of: str, id: str) -> Status[dict[str, Any]]:  # noqa: A002
    """Small ones while the program waits, large ones in the background."""
    who = caller(request, "run")
    seal = KINDS[of].sealed(KINDS[of].find(who.project, id)).seal
    asked = commands.ask_for_check(seal, by=who.by)
    if seal is not None and commands.fits_in_a_request(seal):
        return Status(202, check_json(commands.check(asked.id) or asked))
    enqueue(check_seal, asked.id)
    return Status(202, check_json(asked))
