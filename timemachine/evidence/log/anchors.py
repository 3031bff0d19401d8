"""Reporting the log's growth: a witness gets each state with a proof, an authority timestamps it.

The owner of the signing key could write another history; what they recorded of this one reveals that.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.leases import Lease, holding
from timemachine.core.pure.clock import now
from timemachine.evidence.log import keys
from timemachine.evidence.models import (
    TIMESTAMP,
    WITNESS,
    Anchor,
    AnchorReceipt,
    LogCheckpoint,
    LogEntry,
    SealCheckpoint,
)
from timemachine.evidence.pure import timestamping
from timemachine.evidence.pure.checkpoint import (
    add_checkpoint,
    known_size,
    log_origin,
    signed_note,
    verifier_key,
)
from timemachine.evidence.pure.timestamping import QUERY_TYPE
from timemachine.evidence.pure.tree import Tree
from timemachine.llm.outbound_posts import Answer, Unreachable, checked_address, post

KINDS: Final = (WITNESS, TIMESTAMP)
LONGEST_WAIT: Final = timedelta(hours=1)
_NOTE_TYPE: Final = "text/plain; charset=utf-8"
_OK, _CONFLICT = 200, 409


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorReply:
    """The `answer` to what was `sent`, or what went `wrong`; `known` is the size that a witness took last."""

    sent: bytes
    answer: bytes = b""
    wrong: str | None = None
    known: int | None = None


@transaction.atomic
def set_anchor(project: Project, kind: str, url: str, *, by: str) -> Anchor | None:
    """Set the address that the log is reported to, from its beginning; none if empty. Raises `InvalidInput`."""
    found = Anchor.objects.filter(project=project, kind=kind)
    if not url.strip():
        if found.delete()[0]:
            record(project, "evidence.anchor_set", kind, by=by)
        return None
    address = checked_address(kind, url)
    if (there := found.first()) is not None and there.url == address:
        return there
    found.delete()
    record(project, "evidence.anchor_set", kind, address, by=by)
    return Anchor.objects.create(project=project, kind=kind, url=address, set_by=by[:254], next_at=now())


def anchors_of(project: Project) -> dict[str, Anchor]:
    """Return the project's anchors by kind. One query."""
    return {each.kind: each for each in Anchor.objects.filter(project=project)}


def key_for_witness(project: Project) -> str:
    """Return the key in use in the form that a witness is configured with."""
    return verifier_key(log_origin(str(project.pk)), bytes(keys.key_in_use(project).public_key))


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Who took a log state containing a seal, and when: an authority by its own clock, a witness by ours."""

    kind: str
    url: str
    at: datetime


def first_confirmations(state: SealCheckpoint) -> list[Confirmation]:
    """Return the first witness and authority that took the log with this state in it. Two queries."""
    held = AnchorReceipt.objects.filter(
        checkpoint__project=state.seal.project_id, checkpoint__size__gt=state.log_index
    ).order_by("id")
    firsts = [first for kind in KINDS if (first := held.filter(kind=kind).first())]
    return [
        Confirmation(
            kind=each.kind,
            url=each.url,
            at=timestamping.timestamp_of(bytes(each.answer)) if each.kind == TIMESTAMP else each.at,
        )
        for each in firsts
    ]


def overdue() -> QuerySet[Anchor]:
    """Return the anchors without the newest state; an authority gets one at most every `SEAL_SECONDS`."""
    states = LogCheckpoint.objects.filter(project=OuterRef("project")).order_by()
    longest = states.values("project").annotate(longest=Max("size")).values("longest")
    patience = now() - timedelta(seconds=settings.SEAL_SECONDS)
    due = Q(kind=WITNESS) | Q(taken_at=None) | Q(taken_at__lt=patience)
    found = Anchor.objects.annotate(longest=Subquery(longest))
    return found.filter(due, longest__gt=F("size"), next_at__lte=now()).order_by("next_at")


def send_newest_state(anchor_id: int) -> None:
    """Send the newest state of the log. Only one worker does; a failure is stored and retried later."""
    with holding(Anchor.objects.filter(id=anchor_id, next_at__lte=now())) as lease:
        if lease is not None:
            _send(lease)


def _send(lease: Lease[Anchor]) -> None:
    anchor = lease.row("project")
    states = LogCheckpoint.objects.filter(project=anchor.project_id, key__replaced_at=None)
    newest = states.select_related("key").order_by("-size", "-id").first()
    if newest is None or newest.size <= anchor.size:
        return
    reply = _send_to_witness(anchor, newest) if anchor.kind == WITNESS else _send_to_authority(anchor, newest)
    _store(lease, anchor, newest, reply)


def _send_to_witness(anchor: Anchor, newest: LogCheckpoint) -> AnchorReply:
    """Ask a witness to take the state. If it took a longer log before, entries are missing here."""
    sent = add_checkpoint(anchor.size, _proof(anchor, newest), note_of(newest))
    answer = _posted(anchor.url, sent, _NOTE_TYPE)
    if isinstance(answer, str):
        return AnchorReply(sent=sent, wrong=answer)
    if answer.status == _OK:
        return AnchorReply(sent=sent, answer=answer.body)
    known = known_size(answer.body) if answer.status == _CONFLICT else None
    if known is not None and known > newest.size:
        wrong = f"It has received {known:,} entries of this log, which has only {newest.size:,}. Entries were removed, or it witnesses a different log."
        return AnchorReply(sent=sent, wrong=wrong)
    return AnchorReply(sent=sent, wrong=answer.refusal, known=known)


def _send_to_authority(anchor: Anchor, newest: LogCheckpoint) -> AnchorReply:
    query = timestamping.timestamp_request(newest.signed.encode())
    sent = query.as_bytes()
    answer = _posted(anchor.url, sent, QUERY_TYPE)
    if isinstance(answer, str):
        return AnchorReply(sent=sent, wrong=answer)
    if answer.status != _OK:
        return AnchorReply(sent=sent, wrong=answer.refusal)
    return AnchorReply(sent=sent, answer=answer.body, wrong=timestamping.refusal(query, answer.body))


def _posted(url: str, body: bytes, content_type: str) -> Answer | str:
    try:
        return post(url, body, content_type)
    except Unreachable as why:
        return str(why)


def note_of(state: LogCheckpoint) -> str:
    """Return a signed log state as a note under the same key. Raises `Unavailable` as `keys.sign` does."""
    text = base64.b64decode(json.loads(state.signed)["payload"]).decode("ascii")
    signature = keys.sign_bytes(state.key, text.encode())
    return signed_note(text, log_origin(str(state.project_id)), bytes(state.key.public_key), signature)


def _proof(anchor: Anchor, newest: LogCheckpoint) -> Sequence[bytes]:
    if anchor.size == 0:
        return []
    entries = LogEntry.objects.filter(project=newest.project_id, index__lt=newest.size).order_by("index")
    return Tree([bytes(leaf) for leaf in entries.values_list("leaf", flat=True)]).consistency(anchor.size)


@transaction.atomic
def _store(lease: Lease[Anchor], anchor: Anchor, state: LogCheckpoint, reply: AnchorReply) -> None:
    """Store the reply. Raises `LeaseLost` if another address was set in the meantime."""
    lease.locked()
    moment = now()
    if reply.wrong is None:
        AnchorReceipt.objects.create(
            checkpoint=state,
            kind=anchor.kind,
            url=anchor.url,
            sent=reply.sent,
            answer=reply.answer,
            at=moment,
        )
        facts = {"size": state.size, "taken_at": moment, "attempts": 0, "next_at": moment}
        lease.write(**facts, error=None, failed_at=None)
    elif reply.known is not None and reply.known != anchor.size:
        lease.write(
            size=reply.known, next_at=moment
        )  # it took a state that was not stored: continue after it
    else:
        wait = min(timedelta(seconds=30 * (1 << min(anchor.attempts, 10))), LONGEST_WAIT)
        lease.write(error=reply.wrong, failed_at=moment, attempts=F("attempts") + 1, next_at=moment + wait)
