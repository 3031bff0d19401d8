"""What a visitor learns of the seal of what they look at: when, by which key, how far, and what the last comparison found."""

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from timemachine.evidence.models import SealCheck, SealCheckpoint
from timemachine.evidence.queries import Sealed, result_of, sealed_as, sealed_replay, sealed_session
from timemachine.evidence.sealing.checkpoints import state_of
from timemachine.evidence.sealing.comparison_subject import current_seal
from timemachine.evidence.sealing.erased_since import Erased, erased_among, erased_around, erased_through
from timemachine.evidence.sealing.previous_seals import Earlier, earlier_of
from timemachine.governance.sharing.boundaries import counted_actions, counted_steps
from timemachine.governance.sharing.evidence import reader
from timemachine.governance.sharing.models import REPLAY, SESSION, ShareLink
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSeal:
    """The signed state that what the link shows stands in: of the `records` in the link, `left` are not in it yet.

    That is the state of just so many records (`own`), which the link's evidence has, where it was signed before the database was last compared with
    it. Else it is the one that was compared, or the newest, with more records; `own_at` is then when the evidence's own was signed, None until
    the first download does that.
    `result` is what that comparison found, `intact` or `altered`; None where there was none. It is of the whole session, replay or
    comparison, also where the link shows a part; `checked_records` is how many there were, where that is fewer than the link shows.
    `erased_since` says that something was erased after it.
    """

    at: datetime
    key: str
    records: int
    left: int
    checked_at: datetime | None
    result: str | None
    erased_since: bool = False
    own: bool = True
    own_at: datetime | None = None
    checked_records: int | None = None


def seal_of(link: ShareLink) -> SharedSeal | None:
    """The seal of what the link shows; None where it is not sealed yet."""
    if link.target_type == SESSION and link.session is not None:
        return _shared(sealed_session(link.session), (link.through_sequence or 0) + 1)
    if link.target_type == REPLAY and link.replay is not None:
        sealed = sealed_replay(link.replay)
        return _shared(sealed, sealed.records)
    if link.comparison is not None:
        return _of_comparison(link, link.comparison)
    return None


def earlier_seals(link: ShareLink) -> list[Earlier]:
    """The seals that were before this one, as far as the visitors of the link may know. Five queries at most, none of a session."""
    seal = None
    if link.comparison is not None:
        seal = current_seal(link.comparison)
    elif link.replay is not None:
        seal = sealed_replay(link.replay).seal
    return [] if seal is None else earlier_of(seal, reader(link))


def _of_comparison(link: ShareLink, comparison: Comparison) -> SharedSeal | None:
    """Its cells are sealed when it is over; what was said of them by then and until the link was made may be sealed later."""
    sealed = sealed_as(current_seal(comparison), records=counted_steps(link).count() + 1)
    newest = sealed.checkpoint
    found = None if newest is None else _shared(sealed, newest.size)
    if found is None:
        return None
    found = replace(found, records=sealed.records)
    marks = CellMark.objects.filter(comparison=comparison, created_at__lte=link.created_at)
    opinions = CellOpinion.objects.filter(comparison=comparison, finished_at__lte=link.created_at)
    left = marks.filter(created_at__gt=found.at).count() + opinions.filter(finished_at__gt=found.at).count()
    return replace(found, records=found.records + marks.count() + opinions.count(), left=left)


def _shared(sealed: Sealed, records: int) -> SharedSeal | None:
    newest, check = sealed.checkpoint, sealed.check
    if newest is None:
        return None
    own = newest if newest.size <= records else state_of(newest.seal, records)
    state = _compared(check, own, records) or own or newest
    counted = check.records if check and not check.problems else None
    return SharedSeal(
        at=state.at,
        key=state.key.fingerprint,
        own=state == own,
        own_at=own.at if own else None,
        records=records,
        left=max(records - newest.size, 0),
        checked_at=check.finished_at if check else None,
        result=result_of(check) if check else None,
        checked_records=counted if counted is not None and counted < min(records, state.size) else None,
        erased_since=sealed.erased_since,
    )


def _compared(check: SealCheck | None, own: SealCheckpoint | None, records: int) -> SealCheckpoint | None:
    """The state with all that is shown that the last comparison was of, where the link's own one was signed after it began; None else. One query at most."""
    began = (check.started_at or check.finished_at) if check else None
    if began is None or own is None or own.at <= began:
        return None
    states = SealCheckpoint.objects.filter(seal=own.seal_id, at__lte=began, size__gte=records)
    return states.select_related("key").order_by("-size", "-id").first()


def erased_within(link: ShareLink) -> Erased:
    """What was erased of what the link shows: how much and when, for by whom and why is not the visitor's business. At most two queries.

    As in the bundle, a comparison's own records do not count: they are sealed anew as what is left of them.
    """
    if link.target_type == SESSION and link.session is not None:
        return erased_through(link.session, link.through_sequence or 0)
    if link.target_type == REPLAY and link.replay is not None:
        return erased_around(link.replay)
    return erased_among(_repeated(link))


def _repeated(link: ShareLink) -> dict[UUID, list[int]]:
    """The recorded steps behind the answers that a link to a comparison shows, and their sessions themselves. One query."""
    found = defaultdict[UUID, list[int]](lambda: [0])
    for session, sequence in counted_actions(link).values_list("session_id", "sequence"):
        found[session].append(sequence)
    return found
