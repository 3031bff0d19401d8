"""What a visitor learns of the seal of what they look at: when, by which key, how far, and what the last comparison found."""

from dataclasses import dataclass
from datetime import datetime

from timemachine.evidence.queries import Sealed, result_of, sealed_replay, sealed_session
from timemachine.sharing.models import REPLAY, SESSION, ShareLink


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSeal:
    """The newest signed state: of the `records` in the link, `left` are not in it yet.

    `result` is what the last comparison with the database found, `intact` or `altered`; None where there was none. It is of the whole
    session or replay, as the seal is, also where the link shows a part.
    """

    at: datetime
    key: str
    records: int
    left: int
    checked_at: datetime | None
    result: str | None


def seal_of(link: ShareLink) -> SharedSeal | None:
    """The seal of what the link shows; None where it is not sealed yet, and of a comparison, which nobody seals."""
    if link.target_type == SESSION and link.session is not None:
        return _shared(sealed_session(link.session), (link.through_sequence or 0) + 1)
    if link.target_type == REPLAY and link.replay is not None:
        sealed = sealed_replay(link.replay)
        return _shared(sealed, sealed.records)
    return None


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
    )
