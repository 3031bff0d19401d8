"""Evidence over HTTP: seals, checks against the database, bundles, and signing keys."""

from typing import Any, Final

from django.http import FileResponse, HttpRequest
from ninja import Router, Status

from timemachine.api.access import caller
from timemachine.api.comparisons import router as comparisons
from timemachine.api.openapi import file_answer
from timemachine.api.replays import router as replays
from timemachine.api.sessions import router as sessions_router
from timemachine.evidence import commands
from timemachine.evidence.bundles.downloads import KINDS, download_bundle, zip_response
from timemachine.evidence.log import anchors, project_log
from timemachine.evidence.models import COMPARISON, REPLAY, SESSION
from timemachine.evidence.queries import check_of, keys_of
from timemachine.evidence.schemas import (
    AnchorsIn,
    AnchorsOut,
    SealCheckOut,
    SealOut,
    SigningKeyOut,
    SigningKeys,
)
from timemachine.evidence.tasks import check_seal
from timemachine.governance.sharing import log
from timemachine.jobs.queue import enqueue

router = Router(tags=["evidence"])
_ZIP: Final = file_answer("application/zip")
_BUNDLE: Final[dict[str, Any]] = {"tags": ["evidence"], "openapi_extra": _ZIP}
_SEAL: Final[dict[str, Any]] = {"tags": ["evidence"], "response": SealOut, "exclude_unset": True}
_CHECK: Final[dict[str, Any]] = _SEAL | {"response": {202: SealCheckOut}}


@sessions_router.get("/{session_id}/evidence", summary="Download a session's evidence (zip)", **_BUNDLE)
def of_session(request: HttpRequest, session_id: str) -> FileResponse:
    """Everything that was recorded and everything needed to check it without this server. See README.txt in the zip."""
    return download_bundle(caller(request, "read").project, SESSION, session_id)


@replays.get("/{replay_id}/evidence", summary="Download a replay's evidence (zip)", **_BUNDLE)
def of_replay(request: HttpRequest, replay_id: str) -> FileResponse:
    """A finished replay with the recorded steps that it repeats, and everything needed to check both without this server."""
    return download_bundle(caller(request, "read").project, REPLAY, replay_id)


@comparisons.get("/{comparison_id}/evidence", summary="Download a comparison's evidence (zip)", **_BUNDLE)
def of_comparison(request: HttpRequest, comparison_id: str) -> FileResponse:
    """A finished comparison: every cell, the statistics, ratings and judge verdicts, and the recorded steps that the cells repeat."""
    return download_bundle(caller(request, "read").project, COMPARISON, comparison_id)


@sessions_router.get("/{session_id}/seal", summary="The seal of a session", **_SEAL)
def seal_of_session(request: HttpRequest, session_id: str) -> SealOut:
    """How much of the session is sealed, by which key, and the result of the last check."""
    return _seal(request, SESSION, session_id)


@replays.get("/{replay_id}/seal", summary="The seal of a replay", **_SEAL)
def seal_of_replay(request: HttpRequest, replay_id: str) -> SealOut:
    """Whether its last run is sealed, by which key, and the result of the last check."""
    return _seal(request, REPLAY, replay_id)


@comparisons.get("/{comparison_id}/seal", summary="The seal of a comparison", **_SEAL)
def seal_of_comparison(request: HttpRequest, comparison_id: str) -> SealOut:
    """Whether its last run is sealed with all ratings, by which key, and the result of the last check."""
    return _seal(request, COMPARISON, comparison_id)


@sessions_router.post("/{session_id}/seal/check", summary="Check a session's seal", **_CHECK)
def check_session(request: HttpRequest, session_id: str) -> Status[SealCheckOut]:
    """Compare the complete session in the database with its seal; a worker compares a long session."""
    return _check(request, SESSION, session_id)


@replays.post("/{replay_id}/seal/check", summary="Check a replay's seal", **_CHECK)
def check_replay(request: HttpRequest, replay_id: str) -> Status[SealCheckOut]:
    """Compare the complete replay in the database with its seal."""
    return _check(request, REPLAY, replay_id)


@comparisons.post("/{comparison_id}/seal/check", summary="Check a comparison's seal", **_CHECK)
def check_comparison(request: HttpRequest, comparison_id: str) -> Status[SealCheckOut]:
    """Compare the complete comparison in the database with its seal."""
    return _check(request, COMPARISON, comparison_id)


@router.get("", summary="Download the evidence of the project's log (zip)", openapi_extra=_ZIP)
def of_log(request: HttpRequest, audit_log: bool = False) -> FileResponse:
    """Every entry of the log with every root that was signed, and what still exists: a missing session is named.

    With `audit_log`, also who did what in the project.
    """
    project = caller(request, "admin").project
    return zip_response(
        "evidence-log.zip", lambda target: log.write_log(target, project, with_audit_log=audit_log)
    )


@router.get(
    "/checks/{check_id}", response=SealCheckOut, summary="The result of a seal check", exclude_unset=True
)
def read_check(request: HttpRequest, check_id: str) -> SealCheckOut:
    """`result` is `intact`, `altered` with each problem, or null while the check runs."""
    return SealCheckOut.of(check_of(caller(request, "read").project, check_id))


@router.get("/keys", response=SigningKeys, summary="The keys that sign evidence")
def list_keys(request: HttpRequest) -> SigningKeys:
    """The project's public keys, the one in use first. The list is empty until something is sealed."""
    found = keys_of(caller(request, "read").project)
    return SigningKeys.model_construct(items=[SigningKeyOut.of(each) for each in found], next=None)


@router.post("/keys", response={201: SigningKeyOut}, summary="Replace the key that signs evidence")
def replace_key(request: HttpRequest) -> Status[SigningKeyOut]:
    """Start signing with a new key. The log names it in an entry signed by the previous key."""
    who = caller(request, "admin")
    return Status(201, SigningKeyOut.of(project_log.replace_key(who.project, by=who.by)))


@router.get("/anchors", response=AnchorsOut, summary="The witness and timestamp authority of the log")
def read_anchors(request: HttpRequest) -> AnchorsOut:
    """The witness and the timestamp authority: how much of the log each has and since when, or the last error. Each is null if not set."""
    return AnchorsOut.of(caller(request, "read").project)


@router.patch("/anchors", response=AnchorsOut, summary="Set the witness and timestamp authority of the log")
def set_anchors(request: HttpRequest, payload: AnchorsIn) -> AnchorsOut:
    """A new URL starts again from the first entry, an empty one removes it, and one that is left out is not changed."""
    who = caller(request, "admin")
    for kind, url in payload.model_dump(exclude_none=True).items():
        anchors.set_anchor(who.project, kind, url, by=who.by)
    return AnchorsOut.of(who.project)


def _seal(request: HttpRequest, of: str, id: str) -> SealOut:  # noqa: A002
    return SealOut.of(KINDS[of].sealed(KINDS[of].find(caller(request, "read").project, id)))


def _check(request: HttpRequest, of: str, id: str) -> Status[SealCheckOut]:  # noqa: A002
    who = caller(request, "run")
    requested = commands.check(KINDS[of].sealed(KINDS[of].find(who.project, id)).seal, by=who.by)
    if requested.finished_at is None:
        enqueue(check_seal, requested.id)
    return Status(202, SealCheckOut.of(requested))
