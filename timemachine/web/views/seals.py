"""The evidence of a session, replay or comparison: how far it is sealed, whether the database still holds what was sealed, and the bundle."""

from collections.abc import Callable
from typing import IO, Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.accounts.models import ADMIN, OPERATOR
from timemachine.comparison.queries import comparison_of
from timemachine.erasure.queries import done_of
from timemachine.evidence import commands, exporting, keys, log
from timemachine.evidence.queries import (
    Sealed,
    checkpoints_of,
    sealed_comparison,
    sealed_replay,
    sealed_session,
)
from timemachine.jobs import ring_check
from timemachine.recording.queries import session_of
from timemachine.replay.queries import replay_of
from timemachine.sharing import heads
from timemachine.verifier import program, program_sha256
from timemachine.web import access
from timemachine.web.access import Access
from timemachine.web.http import page
from timemachine.web.redirects import see_other

SHOWN_CHECKPOINTS: Final = 20
SHOWN_ERASURES: Final = 20
BACK: Final = {"session": "timeline", "replay": "replay", "comparison": "comparison"}


@never_cache
@require_safe
def of_session(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/evidence/`: the seal of a session."""
    who = access.of(request)
    session = session_of(who.project, id)
    facts = {"name": session.name, "file": session.key} | _addresses("session", session.id)
    facts["erasures"] = list(done_of(session)[:SHOWN_ERASURES])
    return _page(request, who, sealed_session(session), facts)


@never_cache
@require_safe
def of_replay(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/replays/{id}/evidence/`: the seal of a replay."""
    who = access.of(request)
    replay = replay_of(who.project, id)
    named = {"name": replay.session.name, "what": f"{replay.kind.capitalize()} replay"}
    facts = named | {"file": f"replay-{replay.id}"} | _addresses("replay", replay.id)
    facts["erasures"] = list(done_of(replay.session)[:SHOWN_ERASURES])
    return _page(request, who, sealed_replay(replay), facts)


@never_cache
@require_safe
def of_comparison(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/comparisons/{id}/evidence/`: the seal of a comparison."""
    who = access.of(request)
    comparison = comparison_of(who.project, id)
    named = {"name": f"Comparison of {len(comparison.arms)} models", "file": f"comparison-{comparison.id}"}
    facts = named | _addresses("comparison", comparison.id)
    return _page(request, who, sealed_comparison(comparison), facts)


@never_cache
@require_POST
def check_session(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Compare a session in the database with its seal."""
    who = access.of(request)
    who.require(OPERATOR)
    session = session_of(who.project, id)
    _check(who, sealed_session(session))
    return see_other("session_evidence", session.id)


@never_cache
@require_POST
def check_replay(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Compare a replay in the database with its seal."""
    who = access.of(request)
    who.require(OPERATOR)
    replay = replay_of(who.project, id)
    _check(who, sealed_replay(replay))
    return see_other("replay_evidence", replay.id)


@never_cache
@require_POST
def check_comparison(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Compare a comparison in the database with its seal."""
    who = access.of(request)
    who.require(OPERATOR)
    comparison = comparison_of(who.project, id)
    _check(who, sealed_comparison(comparison))
    return see_other("comparison_evidence", comparison.id)


@never_cache
@require_safe
def bundle_of_session(request: HttpRequest, id: str) -> FileResponse:  # noqa: A002
    """The evidence of a session as a zip."""
    session = session_of(access.of(request).project, id)
    return _download(f"evidence-{session.key}.zip", lambda target: exporting.write_session(target, session))


@never_cache
@require_safe
def bundle_of_replay(request: HttpRequest, id: str) -> FileResponse:  # noqa: A002
    """The evidence of a replay as a zip."""
    replay = replay_of(access.of(request).project, id)
    return _download(
        f"evidence-replay-{replay.id}.zip", lambda target: exporting.write_replay(target, replay)
    )


@never_cache
@require_safe
def bundle_of_comparison(request: HttpRequest, id: str) -> FileResponse:  # noqa: A002
    """The evidence of a comparison as a zip."""
    comparison = comparison_of(access.of(request).project, id)
    return _download(
        f"evidence-comparison-{comparison.id}.zip",
        lambda target: exporting.write_comparison(target, comparison),
    )


@never_cache
@require_safe
def bundle_of_log(request: HttpRequest) -> FileResponse:
    """The evidence of the project's log as a zip."""
    who = access.of(request)
    who.require(ADMIN)
    return _download("evidence-log.zip", lambda target: heads.write_log(target, who.project))


@require_safe
def verifier(_request: HttpRequest) -> HttpResponse:
    """The program that checks a bundle: the same file for everybody, so that it needs no account."""
    headers = {"Content-Disposition": 'attachment; filename="tm_verify.py"'}
    return HttpResponse(program(), content_type="text/x-python; charset=utf-8", headers=headers)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def replace_key(request: HttpRequest) -> HttpResponse:
    """What it means to sign with a new key; with POST, it is done."""
    who = access.of(request)
    who.require(ADMIN)
    if request.method != "POST":
        return render(request, "accounts/replace_evidence_key.html", {"key": keys.key_in_use(who.project)})
    made = log.replace_key(who.project, by=who.user.email)
    messages.success(request, f"What is sealed from now on is signed by {made.fingerprint}.")
    return see_other("settings")


def _addresses(of: str, id_: UUID) -> dict[str, Any]:
    names = {
        "back": BACK[of],
        "bundle": f"{of}_bundle",
        "check": f"check_{of}_seal",
        "here": f"{of}_evidence",
    }
    return {"of": of, "id": id_} | {each: reverse(name, args=[id_]) for each, name in names.items()}


def _page(request: HttpRequest, who: Access, sealed: Sealed, facts: dict[str, Any]) -> HttpResponse:
    shown = {
        "sealed": sealed,
        "checkpoints": list(checkpoints_of(sealed.seal)[:SHOWN_CHECKPOINTS]) if sealed.seal else [],
        "may_run": who.may(OPERATOR),
        "may_erase": who.administers,
        "verifier_sha256": program_sha256(),
    }
    return page(request, "seals/seal.html", facts | shown, parts=("seal",))


def _download(name: str, write: Callable[[IO[bytes]], object]) -> FileResponse:
    headers = {"X-Content-Type-Options": "nosniff"}
    zipped = exporting.whole(write)
    return FileResponse(
        zipped, as_attachment=True, filename=name, content_type="application/zip", headers=headers
    )


def _check(who: Access, sealed: Sealed) -> None:
    """Small ones while somebody waits, large ones in the background."""
    asked = commands.ask_for_check(sealed.seal, by=who.user.email)
    if sealed.seal is not None and commands.fits_in_a_request(sealed.seal):
        commands.check(asked.id)
    else:
        ring_check(asked.id)
