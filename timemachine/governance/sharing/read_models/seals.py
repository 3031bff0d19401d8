"""Seals, keys and erasures as a visitor sees them: when and what, never by whom or why."""

from dataclasses import dataclass
from datetime import datetime

from timemachine.evidence.sealing.previous_seals import PreviousSeal


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSeal:
    """The signed state that covers what the link shows; `left` of the `records` are not in it yet.

    It is the state of exactly these records (`own`), which the link's evidence has, if that was signed before
    the last check. Otherwise it is the state that was checked, or the newest, with more records; `own_at` is
    then when the evidence's own state was signed, None until the first download signs it.

    `root` is the root hash of that own state, None until it is signed.

    `result` is the result of the last check, `intact` or `altered`; None without one. It covers the complete
    session, replay or comparison, even if the link shows a part; `checked_records` is how many records there
    were, if fewer than the link shows. `erased_since` is whether something was erased after the check.
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
    root: str | None = None
    checked_records: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedEarlierSeal:
    """A seal that was replaced. `replaced_at` is the time of the erasure; None if it ran again."""

    sealed_at: datetime
    root: str
    replaced_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedKey:
    """The key that signs a download."""

    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedErasure:
    """A field of a step that was partly or completely erased, and when."""

    field: str
    erased_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedDeletion:
    """The time at which a step was deleted completely."""

    erased_at: datetime


def shared_earlier_seal(earlier: PreviousSeal) -> SharedEarlierSeal:
    """Return the previous seal by its newest state."""
    return SharedEarlierSeal(
        sealed_at=earlier.newest.sealed_at,
        root=earlier.newest.root,
        replaced_at=earlier.replaced.at if earlier.replaced else None,
    )
