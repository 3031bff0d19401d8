"""What a visitor learns of the seal of what they look at: when, by which key, how far, and what the last comparison found."""

from dataclasses import dataclass, replace
from datetime import datetime

from timemachine.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.evidence.comparison_subject import current_seal
from timemachine.evidence.erased_since import (
    NOTHING_ERASED,
    Erased,
    erased_around,
    erased_in,
    erased_through,
)
from timemachine.evidence.queries import Sealed, result_of, sealed_as, sealed_replay, sealed_session
from timemachine.sharing.models import REPLAY, SESSION, ShareLink
from timemachine.sharing.within import counted_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSeal:
    """The newest signed state: of the `records` in the link, `left` are not in it yet.

    `result` is what the last comparison with the database found, `intact` or `altered`; None where there was none. It is of the whole
    session, replay or comparison, as the seal is, also where the link shows a part. `erased_since` says that something was erased after it.
    """

    at: datetime
    key: str
    records: int
    left: int
    checked_at: datetime | None
    result: str | None
    erased_since: bool = False


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


def _of_comparison(link: ShareLink, comparison: Comparison) -> SharedSeal | None:
    """Its cells are sealed when it is over; what was said of them by then and until the link was made may be sealed later."""
    sealed = sealed_as(current_seal(comparison), records=counted_steps(link).count() + 1)
    found = _shared(sealed, sealed.records)
    if found is None:
        return None
    marks = CellMark.objects.filter(comparison=comparison, created_at__lte=link.created_at)
    opinions = CellOpinion.objects.filter(comparison=comparison, finished_at__lte=link.created_at)
    left = marks.filter(created_at__gt=found.at).count() + opinions.filter(finished_at__gt=found.at).count()
    return replace(found, records=found.records + marks.count() + opinions.count(), left=left)


def _shared(sealed: Sealed, records: int) -> SharedSeal | None:
    if sealed.checkpoint is None:
        return None
    return SharedSeal(
        at=sealed.checkpoint.at,
        key=sealed.checkpoint.key.fingerprint,
        records=records,
        left=max(records - sealed.checkpoint.size, 0),
        checked_at=sealed.check.finished_at if sealed.check else None,
        result=result_of(sealed.check) if sealed.check else None,
        erased_since=sealed.erased_since,
    )


def erased_within(link: ShareLink) -> Erased:
    """What was erased of what the link shows: how much and when, for by whom and why is not the visitor's business. One query."""
    if link.target_type == SESSION and link.session is not None:
        return erased_through(link.session, link.through_sequence or 0)
    if link.target_type == REPLAY and link.replay is not None:
        return erased_around(link.replay)
    return NOTHING_ERASED if link.comparison is None else erased_in(link.comparison)
