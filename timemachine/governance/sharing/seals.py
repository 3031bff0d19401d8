"""The seal of what a link shows: when it was signed, by which key, how far, and what the last check found."""

from collections import defaultdict
from dataclasses import replace
from uuid import UUID

from timemachine.evidence.log.keys import existing_key
from timemachine.evidence.models import SealCheck, SealCheckpoint
from timemachine.evidence.queries import Sealed, result_of, sealed_as, sealed_replay, sealed_session
from timemachine.evidence.sealing.checkpoints import newest_state
from timemachine.evidence.sealing.comparison_subject import current_seal
from timemachine.evidence.sealing.erased_since import (
    ErasureSummary,
    erased_of_replay,
    erased_of_steps,
    erased_through,
)
from timemachine.evidence.sealing.previous_seals import previous_seals_of
from timemachine.governance.sharing.boundaries import counted_actions, counted_steps
from timemachine.governance.sharing.evidence import reader
from timemachine.governance.sharing.models import REPLAY, SESSION, ShareLink
from timemachine.governance.sharing.read_models.seals import (
    SharedEarlierSeal,
    SharedKey,
    SharedSeal,
    shared_earlier_seal,
)
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison


def seal_of(link: ShareLink) -> SharedSeal | None:
    """Return the seal of what the link shows; None if it is not sealed yet."""
    if link.target_type == SESSION and link.session is not None:
        return _shared(sealed_session(link.session), (link.through_sequence or 0) + 1)
    if link.target_type == REPLAY and link.replay is not None:
        sealed = sealed_replay(link.replay)
        return _shared(sealed, sealed.records)
    if link.comparison is not None:
        return _of_comparison(link, link.comparison)
    return None


def earlier_seals(link: ShareLink) -> list[SharedEarlierSeal]:
    """Return the earlier seals that the link's visitors may know. At most five queries, none for a session."""
    seal = None
    if link.comparison is not None:
        seal = current_seal(link.comparison)
    elif link.replay is not None:
        seal = sealed_replay(link.replay).seal
    if seal is None:
        return []
    return [shared_earlier_seal(each) for each in previous_seals_of(seal, reader(link))]


def signing_key(link: ShareLink) -> SharedKey | None:
    """Return the key that signs a download now; None if nothing has been sealed yet. One query."""
    key = existing_key(link.project)
    return None if key is None else SharedKey(fingerprint=key.fingerprint)


def _of_comparison(link: ShareLink, comparison: Comparison) -> SharedSeal | None:
    """Return the seal of a comparison. Its cells are sealed when it finishes; remarks from before the link
    was created may be sealed later.
    """
    sealed = sealed_as(current_seal(comparison), records=counted_steps(link).count() + 1)
    newest = sealed.checkpoint
    found = None if newest is None else _shared(sealed, newest.size)
    if found is None:
        return None
    found = replace(found, records=sealed.records)
    marks = CellMark.objects.filter(comparison=comparison, created_at__lte=link.created_at)
    opinions = CellOpinion.objects.filter(comparison=comparison, finished_at__lte=link.created_at)
    unsealed = (
        marks.filter(created_at__gt=found.at).count() + opinions.filter(finished_at__gt=found.at).count()
    )
    return replace(found, records=found.records + marks.count() + opinions.count(), left=unsealed)


def _shared(sealed: Sealed, records: int) -> SharedSeal | None:
    newest, check = sealed.checkpoint, sealed.check
    if newest is None:
        return None
    own = newest if newest.size <= records else newest_state(newest.seal, records)
    state = _checked_state(check, own, records) or own or newest
    counted = check.records if check and not check.problems else None
    return SharedSeal(
        at=state.at,
        key=state.key.fingerprint,
        own=state == own,
        own_at=own.at if own else None,
        root=own.root_hex if own else None,
        records=records,
        left=max(records - newest.size, 0),
        checked_at=check.finished_at if check else None,
        result=result_of(check) if check else None,
        checked_records=counted if counted is not None and counted < min(records, state.size) else None,
        erased_since=sealed.erased_since,
    )


def _checked_state(
    check: SealCheck | None, own: SealCheckpoint | None, records: int
) -> SealCheckpoint | None:
    """Return the state that the last check covered and that covers all that is shown, if the link's own state
    was signed after the check began. At most one query.
    """
    began = (check.started_at or check.finished_at) if check else None
    if began is None or own is None or own.at <= began:
        return None
    states = SealCheckpoint.objects.filter(seal=own.seal_id, at__lte=began, size__gte=records)
    return states.select_related("key").order_by("-size", "-id").first()


def erased_within(link: ShareLink) -> ErasureSummary:
    """Return how much of what the link shows was erased, and when; not by whom or why. At most two queries.

    As in the bundle, a comparison's own records do not count: what remains of them is resealed.
    """
    if link.target_type == SESSION and link.session is not None:
        return erased_through(link.session, link.through_sequence or 0)
    if link.target_type == REPLAY and link.replay is not None:
        return erased_of_replay(link.replay)
    return erased_of_steps(_repeated(link))


def _repeated(link: ShareLink) -> dict[UUID, list[int]]:
    """Return the recorded steps, and 0 for their session, of the answers that a link shows. One query."""
    found = defaultdict[UUID, list[int]](lambda: [0])
    for session, sequence in counted_actions(link).values_list("session_id", "sequence"):
        found[session].append(sequence)
    return found
