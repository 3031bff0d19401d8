"""Signed states of a tree: what was sealed, up to some record, and its entry in the project's log."""

from datetime import datetime

from django.db import transaction

from timemachine.core.pure.clock import now, written
from timemachine.core.pure.errors import Conflict
from timemachine.evidence.log import keys, project_log
from timemachine.evidence.models import Seal, SealCheckpoint, SealedRecord
from timemachine.evidence.pure import checkpoint
from timemachine.evidence.pure.checkpoint import PAYLOAD_TYPE, Checkpoint
from timemachine.evidence.pure.tree import Frontier
from timemachine.evidence.sealing.subjects import Subject


class ErasedMeanwhile(Conflict):
    """What was to be shown was sealed, and is not any more: something of it was erased at this moment."""

    default_code = "erased_meanwhile"

    def __init__(self) -> None:
        super().__init__("Something of it was erased while its evidence was written; ask for it again.")


@transaction.atomic
def sign(
    subject: Subject,
    seal: Seal,
    tree: Frontier,
    last_leaf: bytes,
    state: str,
    *,
    cut_for: str | None = None,
) -> SealCheckpoint:
    """Sign the state of a seal's tree, for that share link alone where one is named, and enter it into the log. The caller holds the seal."""
    project_log.hold(subject.project)
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
        log_index=project_log.append(subject.project, [_entry(subject, tree)], moment),
        cut_for=cut_for,
    )


@transaction.atomic
def at_size(subject: Subject, seal: Seal, size: int, link: str | None = None) -> SealCheckpoint:
    """The signed state of the first `size` records: the newest that there is, or one signed now, for visitors of the link of that public id, who are shown no more.

    Raises `ErasedMeanwhile`, and `Unavailable` as `keys.sign` does.
    """
    Seal.objects.select_for_update().filter(pk=seal.pk).first()
    if (found := state_of(seal, size)) is not None:
        return found
    leaves = SealedRecord.objects.filter(seal=seal, index__lt=size).order_by("index")
    in_order = [bytes(leaf) for leaf in leaves.values_list("leaf", flat=True)]
    if not in_order or len(in_order) != size:
        raise ErasedMeanwhile
    return sign(subject, seal, Frontier().grown(in_order), in_order[-1], checkpoint.OPEN, cut_for=link)


def size_behind(seal: Seal, last: int) -> int:
    """How many records the signed state counts that proves the records up to `last`: the one after the end where there is one, else the first that has them.

    Raises `ErasedMeanwhile` where none has. One query.
    """
    states = SealCheckpoint.objects.filter(seal=seal, size__gt=last, cut_for=None).order_by("size", "id")
    found = list(states.values_list("state", "size"))
    if not found:
        raise ErasedMeanwhile
    return next((size for state, size in found if state == checkpoint.CLOSED), found[0][1])


def signed_at(seal: Seal, size: int) -> SealCheckpoint:
    """The newest signed state of the first `size` records. Raises `ErasedMeanwhile` where there is none. One query."""
    found = state_of(seal, size)
    if found is None:
        raise ErasedMeanwhile
    return found


def state_of(seal: Seal, size: int) -> SealCheckpoint | None:
    """The newest signed state of the first `size` records; None where none was signed. One query."""
    found = SealCheckpoint.objects.filter(seal=seal, size=size).select_related("key", "seal")
    return found.order_by("-id").first()


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
        "entry": project_log.SEALED,
        "of": subject.of,
        "id": subject.id,
        "generation": subject.generation,
        "size": tree.size,
        "root": tree.root.hex(),
    }
