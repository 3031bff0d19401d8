"""The evidence of a session, replay or comparison: its seal, the check of the database against it, and the bundle."""

from typing import Final
from uuid import UUID

from django.http import FileResponse, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from timemachine.core.accounts.models import OPERATOR
from timemachine.evidence import commands
from timemachine.evidence.bundles.downloads import KINDS, download_bundle
from timemachine.evidence.log import keys
from timemachine.evidence.log.anchors import first_confirmations
from timemachine.evidence.models import Seal, SealCheckpoint
from timemachine.evidence.queries import checkpoints_of, earlier_keys_of, listed_seal, with_is_cut
from timemachine.evidence.sealing.comparison_subject import run_ended_at
from timemachine.evidence.tasks import check_seal
from timemachine.governance.deletion.erasure.queries import done_of
from timemachine.governance.sharing.queries import ids_by_public_id, links_to
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay
from timemachine.verifier import program, program_sha256
from timemachine.web.access import Access, get_view, post_view
from timemachine.web.http import page, see_other
from timemachine.web.sharing.presenters.object_head import object_head

SHOWN_CHECKPOINTS: Final = 20
SHOWN_ERASURES: Final = 20
SHOWN_LINKS: Final = 20


@get_view(fresh=True)
def evidence(request: HttpRequest, access: Access, id: str, of: str) -> HttpResponse:
    """`/sessions/{id}/evidence/`, `/replays/…`, `/comparisons/…`: the evidence page."""
    kind = KINDS[of]
    thing = kind.find(access.project, id)
    sealed = kind.sealed(thing)
    session, earlier = _session_of(thing), sealed.earlier()
    facts = {
        **_named(thing),
        **_addresses(of, thing.id),
        **object_head(thing),
        "seal": listed_seal(sealed) if of != "session" else None,
        "file": kind.file(thing),
        "sealed": sealed,
        "checkpoints": _states(sealed.seal) if sealed.seal else [],
        "outside": first_confirmations(sealed.checkpoint) if sealed.checkpoint else [],
        "earlier": earlier,
        "newest_earlier": earlier[-1] if earlier else None,
        "has_evidence": _has_evidence(thing),
        "signing_key": keys.existing_key(access.project),
        "earlier_keys": earlier_keys_of(sealed.seal) if sealed.seal else [],
        "erasures": list(done_of(session)[:SHOWN_ERASURES]) if session else [],
        "links": list(links_to(thing)[:SHOWN_LINKS]),
        "may_run": access.may(OPERATOR),
        "may_erase": access.administers,
        "verifier_sha256": program_sha256(),
    }
    return page(request, "seals/seal.html", facts, parts=("seal",))


@post_view(OPERATOR)
def check(_request: HttpRequest, access: Access, id: str, of: str) -> HttpResponse:
    """Check the database against the seal: a small one in the request, a large one in the background."""
    thing = KINDS[of].find(access.project, id)
    requested = commands.check(KINDS[of].sealed(thing).seal, by=access.user.email)
    if requested.finished_at is None:
        enqueue(check_seal, requested.id)
    return see_other(f"{of}_evidence", thing.id)


@get_view(fresh=True)
def bundle(_request: HttpRequest, access: Access, id: str, of: str) -> FileResponse:
    """Download the evidence as a ZIP file."""
    return download_bundle(access.project, of, id)


@require_safe
def verifier(_request: HttpRequest) -> HttpResponse:
    """Download the verifier; it is public and needs no account."""
    headers = {"Content-Disposition": 'attachment; filename="tm_verify.py"'}
    return HttpResponse(program(), content_type="text/x-python; charset=utf-8", headers=headers)


def _states(seal: Seal) -> list[SealCheckpoint]:
    """Return the newest signed states, each with whether it is partial, and the share link it was made for, if any. Two queries."""
    shown = list(with_is_cut(checkpoints_of(seal))[:SHOWN_CHECKPOINTS])
    links = ids_by_public_id(seal.project_id, {each.cut_for for each in shown if each.cut_for})
    for each in shown:
        each.link = links.get(each.cut_for or "")  # type: ignore[attr-defined]
    return shown


def _has_evidence(thing: Session | Replay | Comparison) -> bool:
    """Return whether a bundle can be written; not while it is still running."""
    if isinstance(thing, Session):
        return thing.last_sequence > 0
    return thing.finished_at is not None if isinstance(thing, Replay) else run_ended_at(thing) is not None


def _session_of(thing: Session | Replay | Comparison) -> Session | None:
    """Return the session from which content is erased; None for a comparison, which has several."""
    if isinstance(thing, Replay):
        return thing.session
    return thing if isinstance(thing, Session) else None


def _named(thing: Session | Replay | Comparison) -> dict[str, str]:
    if isinstance(thing, Comparison):
        return {"name": f"Comparison of {len(thing.arms)} models"}
    if isinstance(thing, Replay):
        return {"name": thing.session.name, "what": f"{thing.kind.capitalize()} replay"}
    return {"name": thing.name}


def _addresses(of: str, id_: UUID) -> dict[str, object]:
    names = {
        "bundle": f"{of}_bundle",
        "check": f"check_{of}_seal",
        "here": f"{of}_evidence",
    }
    return {"of": of, "id": id_} | {each: reverse(name, args=[id_]) for each, name in names.items()}
