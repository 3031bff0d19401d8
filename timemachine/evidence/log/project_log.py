"""A project's log: every seal, tombstone and key in one tree, signed anew whenever it grows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.content import canonical_json
from timemachine.evidence.log import keys
from timemachine.evidence.models import EvidenceLog, LogCheckpoint, LogEntry, SigningKey
from timemachine.evidence.pure import checkpoint
from timemachine.evidence.pure.checkpoint import PAYLOAD_TYPE, Checkpoint
from timemachine.evidence.pure.tree import Frontier, leaf_hash

VERSION = 1
SEALED, ERASED, KEY, ERASED_FIELDS = "sealed", "erased", "key", "erased_fields"
HOLD, RETENTION = "hold", "retention"
UNREADABLE = "unreadable"


@transaction.atomic
def append(project: Project, entries: Sequence[Mapping[str, Any]], at: datetime | None = None) -> int:
    """Add entries (`entry` says which kind) in their order, sign the log as it then is, and return the index of the first.

    Entries hold strings, whole numbers and lists of them only. Other writers of the project's log wait until this transaction ends.
    """
    log = hold(project)
    moment = at or now()
    first, lines = (
        log.size,
        [canonical_json({"v": VERSION, "at": written(moment), **entry}) for entry in entries],
    )
    leaves = [leaf_hash(line) for line in lines]
    LogEntry.objects.bulk_create(
        LogEntry(project=project, index=first + offset, entry=line, leaf=leaf)
        for offset, (line, leaf) in enumerate(zip(lines, leaves, strict=True))
    )
    grown = frontier_of(log).grown(leaves)
    log.size, log.peaks, log.last_leaf = grown.size, list(grown.peaks), leaves[-1]
    log.save(update_fields=["size", "peaks", "last_leaf"])
    _sign(log, grown, keys.key_in_use(project), moment)
    return first


def hold(project: Project) -> EvidenceLog:
    """The project's log, which nobody else writes, and whose key nobody replaces, until the transaction of the caller ends.

    Whoever signs for the log reads the key behind this, or could sign with one that is replaced by then.
    """
    log, _ = EvidenceLog.objects.get_or_create(project=project)
    return EvidenceLog.objects.select_for_update().get(pk=log.pk)


@transaction.atomic
def replace_key(project: Project, *, by: str) -> SigningKey:
    """A new signing key: the log names it under the signature of the one before, too, or says that this one could not be read."""
    hold(project)
    new, old = keys.replace_key(project, by=by)
    readable = keys.is_readable(old)
    entry = {"entry": KEY, "key": new.fingerprint, "replaces": old.fingerprint}
    append(project, [entry if readable else entry | {"replaced": UNREADABLE}])
    if readable:
        log = EvidenceLog.objects.get(project=project)
        _sign(log, frontier_of(log), old, now())
    return new


def frontier_of(log: EvidenceLog) -> Frontier:
    """The log as a tree that can grow."""
    return Frontier(size=log.size, peaks=tuple(bytes(peak) for peak in log.peaks))


def _sign(log: EvidenceLog, grown: Frontier, key: SigningKey, at: datetime) -> None:
    state = Checkpoint(
        origin=checkpoint.log_origin(str(log.project_id)),
        size=grown.size,
        root=grown.root,
        last_leaf=bytes(log.last_leaf),
        at=written(at) or "",
        state=checkpoint.OPEN,
    )
    LogCheckpoint.objects.create(
        project_id=log.project_id,
        size=grown.size,
        root=grown.root,
        signed=keys.sign(key, PAYLOAD_TYPE, state.text().encode()).dumped(),
        key=key,
        at=at,
    )
