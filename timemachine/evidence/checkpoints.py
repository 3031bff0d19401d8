"""Signed states of a tree: what was sealed, up to some record, and its entry in the project's log."""

from datetime import datetime

from django.db import transaction

from timemachine.base.clock import now, written
from timemachine.evidence import checkpoint, keys, log
from timemachine.evidence.checkpoint import PAYLOAD_TYPE, Checkpoint
from timemachine.evidence.models import Seal, SealCheckpoint, SealedRecord
from timemachine.evidence.subjects import Subject
from timemachine.evidence.tree import Frontier


@transaction.atomic
def sign(subject: Subject, seal: Seal, tree: Frontier, last_leaf: bytes, state: str) -> SealCheckpoint:
    """Sign the state of a seal's tree and enter it into the log. The caller holds the seal."""
    moment = now()
    key = keys.key_in_use(subject.project)
    signed = keys.sign(key, PAYLOAD_TYPE, _text(subject, seal, tree, last_leaf, state, moment))
    return SealCheckpoint.objects.create(
        seal=seal,
        size=tree.size,
        root=tree.root,
        state=state,
        signed=signed.dumped(),
        key=key,
        at=moment,
        log_index=log.append(subject.project, [_entry(subject, tree)], moment),
    )


@transaction.atomic
def at_size(subject: Subject, seal: Seal, size: int) -> SealCheckpoint:
    """The signed state of the first `size` records: the newest that there is, or one signed now, for who is shown no more than that."""
    Seal.objects.select_for_update().get(pk=seal.pk)
    found = (
        SealCheckpoint.objects.filter(seal=seal, size=size)
        .select_related("key", "seal")
        .order_by("-id")
        .first()
    )
    if found is not None:
        return found
    leaves = SealedRecord.objects.filter(seal=seal, index__lt=size).order_by("index")
    in_order = [bytes(leaf) for leaf in leaves.values_list("leaf", flat=True)]
    if not in_order or len(in_order) != size:
        raise ValueError(f"{len(in_order)} of {size} records are sealed")
    return sign(subject, seal, Frontier().grown(in_order), in_order[-1], checkpoint.OPEN)


def _text(
    subject: Subject, seal: Seal, tree: Frontier, last_leaf: bytes, state: str, moment: datetime
) -> bytes:
    stated = Checkpoint(
        origin=origin_of(subject, seal),
        size=tree.size,
        root=tree.root,
        last_leaf=last_leaf,
        at=written(moment) or "",
        state=state,
    )
    return stated.text().encode()


def origin_of(subject: Subject, seal: Seal) -> str:
    """The name of the subject's tree."""
    return checkpoint.origin(
        project=str(seal.project_id), of=subject.of, id=subject.id, generation=seal.generation
    )


def _entry(subject: Subject, tree: Frontier) -> dict[str, object]:
    return {
        "entry": log.SEALED,
        "of": subject.of,
        "id": subject.id,
        "generation": subject.generation,
        "size": tree.size,
        "root": tree.root.hex(),
    }
