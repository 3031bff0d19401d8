"""Seals, keys and erasures as a visitor sees them: when and what, never by whom or why."""

from dataclasses import dataclass
from datetime import datetime

from timemachine.evidence.models import ErasedField, SigningKey
from timemachine.evidence.sealing.previous_seals import Earlier


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSeal:
    """The signed state that covers what the link shows: of the `records` in the link, `left` are not in it yet.

    That is the state of exactly these records (`own`), which the link's evidence has, where it was signed before the last check. Otherwise it is
    the state that was checked, or the newest, with more records; `own_at` is then when the evidence's own state was signed, None until the first
    download signs it.
    `result` is what the last check found, `intact` or `altered`; None where there was none. It is of the whole session, replay or comparison, also
    where the link shows a part; `checked_records` is how many there were, where that is fewer than the link shows.
    `erased_since` says that something was erased after the check.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedEarlierSeal:
    """A seal that was replaced. `replaced_at` is when, after an erasure; None where it ran again."""

    sealed_at: datetime
    root: str
    replaced_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedKey:
    """The key that signs a download."""

    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedErasure:
    """A field of a step of which something was erased, and when."""

    field: str
    erased_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedDeletion:
    """That a step was deleted whole, and when."""

    erased_at: datetime


def shared_earlier_seal(earlier: Earlier) -> SharedEarlierSeal:
    """The earlier seal by its newest state."""
    return SharedEarlierSeal(
        sealed_at=earlier.newest.sealed_at,
        root=earlier.newest.root,
        replaced_at=earlier.replaced.at if earlier.replaced else None,
    )


def shared_key(key: SigningKey) -> SharedKey:
    """The key by its fingerprint."""
    return SharedKey(fingerprint=key.fingerprint)


def shared_erasure(erased: ErasedField) -> SharedErasure:
    """The erasure of one field."""
    return SharedErasure(field=erased.field, erased_at=erased.erased_at)
