"""Signed states of a tree: what was sealed up to some record, and its entry in the project's log."""

from collections.abc import Mapping

from django.db import transaction

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict
from timemachine.evidence.log import keys, project_log
from timemachine.evidence.models import Seal, SealCheckpoint, SealedRecord
from timemachine.evidence.pure import checkpoint
from timemachine.evidence.pure.tree import Frontier
from timemachine.evidence.sealing.subjects import Subject


class ErasedMeanwhile(Conflict):
    """Something of the requested evidence was erased while it was being written."""

    default_code = "erased_meanwhile"

    def __init__(self) -> None:
        super().__init__("Part of it was erased while its evidence was being written. Try again.")


@transaction.atomic
def sign(
    subject: Subject,
    seal: Seal,
    tree: Frontier,
    last_leaf: bytes,
    state: str,
    *,
    cut_for: str | None = None,
    more: Mapping[str, str] | None = None,
) -> SealCheckpoint:
    """Sign the state of a seal's tree, with `more` about its subject, and add it to the log. `cut_for` is the
    share link that it is signed for. The caller has locked the seal.
    """
    project_log.locked_log(subject.project)
    moment = now()
    key = keys.key_in_use(subject.project)
    origin = origin_of(subject, seal)
    return SealCheckpoint.objects.create(
        seal=seal,
        size=tree.size,
        root=tree.root,
        state=state,
        signed=project_log.signed_state(key, origin, tree, last_leaf, state, moment, more),
        key=key,
        at=moment,
        log_index=project_log.append(subject.project, [_entry(subject, tree)], moment),
        cut_for=cut_for,
    )


@transaction.atomic
def ensure_signed_at(subject: Subject, seal: Seal, size: int, link: str | None = None) -> SealCheckpoint:
    """Return the newest signed state of the first `size` records, or sign one for the share link `link`.

    Raises `ErasedMeanwhile`, and `Unavailable` as `keys.sign` does.
    """
    Seal.objects.select_for_update().filter(pk=seal.pk).first()
    if (found := newest_state(seal, size)) is not None:
        return found
    leaves = SealedRecord.objects.filter(seal=seal, index__lt=size).order_by("index")
    in_order = [bytes(leaf) for leaf in leaves.values_list("leaf", flat=True)]
    if not in_order or len(in_order) != size:
        raise ErasedMeanwhile
    return sign(subject, seal, Frontier().grown(in_order), in_order[-1], checkpoint.OPEN, cut_for=link)


def signed_size_covering(seal: Seal, last: int) -> int:
    """Return the size of the signed state that proves the records up to `last`: the closed one if there is
    one, otherwise the first that covers them.

    Raises `ErasedMeanwhile` if none does. One query.
    """
    states = SealCheckpoint.objects.filter(seal=seal, size__gt=last, cut_for=None).order_by("size", "id")
    found = list(states.values_list("state", "size"))
    if not found:
        raise ErasedMeanwhile
    return next((size for state, size in found if state == checkpoint.CLOSED), found[0][1])


def required_state(seal: Seal, size: int) -> SealCheckpoint:
    """Return the newest signed state of that size. Raises `ErasedMeanwhile` if it was erased. One query."""
    found = newest_state(seal, size)
    if found is None:
        raise ErasedMeanwhile
    return found


def newest_state(seal: Seal, size: int) -> SealCheckpoint | None:
    """Return the newest signed state of the first `size` records, or None. One query."""
    found = SealCheckpoint.objects.filter(seal=seal, size=size).select_related("key", "seal")
    return found.order_by("-id").first()


def origin_of(subject: Subject, seal: Seal) -> str:
    """Return the name of the subject's tree."""
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
