"""A link's lifetime, number of openings and passphrase, the limits of these, and what a project allows. Pure."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from timemachine.core.pure.errors import InvalidInput, NotAllowed
from timemachine.text.redaction.pure.profile import Profile

LONGEST_DAYS: Final = 366
DEFAULT_LIFETIME: Final = timedelta(days=14)
LONGEST_LABEL: Final = 200
SHORTEST_PASSPHRASE: Final = 4
LONGEST_PASSPHRASE: Final = 1_000
MOST_OPENS: Final = 1_000_000
_UNTYPABLE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Whether links are `forbidden` (existing ones stop working, too), whether each needs a passphrase or a
    redaction profile, and how long one may live.

    `longest_days` None is the longest lifetime of any link.
    """

    forbidden: bool = False
    passphrase_required: bool = False
    profile_required: bool = False
    longest_days: int | None = None

    @property
    def longest(self) -> timedelta:
        return timedelta(days=LONGEST_DAYS if self.longest_days is None else self.longest_days)


OPEN: Final = Policy()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The settings of a link: its end, passphrase, number of openings, and a label for the project.

    `expires_at` None is 14 days from now, `through_sequence` None the last step; a link without a passphrase
    asks for none, and without `max_opens` it can be opened any number of times. `evidence_only` shows what it is and the
    download of its evidence, without recorded text. `redaction` is the profile that withholds; None withholds nothing.
    """

    expires_at: datetime | None = None
    through_sequence: int | None = None
    passphrase: str | None = None
    max_opens: int | None = None
    evidence_only: bool = False
    redaction: Profile | None = None
    label: str = ""


ORDINARY: Final = Terms()


def check_policy(policy: Policy) -> None:
    """Raise `InvalidInput` if the policy is invalid."""
    if policy.longest_days is not None and not 1 <= policy.longest_days <= LONGEST_DAYS:
        raise InvalidInput(
            f"A link can be valid for 1 to {LONGEST_DAYS} days. Leave the number out for the maximum.",
            code="invalid_field",
            field="longest_days",
        )


def require_allowed(policy: Policy) -> None:
    """Raise `NotAllowed` if links are forbidden."""
    if policy.forbidden:
        raise NotAllowed(
            "An administrator has turned off share links for this project. Ask one to turn them on under Sharing, Policy.",
            code="sharing_forbidden",
        )


def check(terms: Terms, now: datetime, policy: Policy = OPEN) -> None:
    """Raise `InvalidInput` naming the invalid field and what is allowed; `NotAllowed` if links are forbidden."""
    require_allowed(policy)
    check_end(terms.expires_at, now, policy.longest)
    if policy.passphrase_required and terms.passphrase is None:
        raise InvalidInput(
            "Every link in this project needs a passphrase. Choose one.",
            code="passphrase_required",
            field="passphrase",
        )
    if policy.profile_required and terms.redaction is None:
        raise InvalidInput(
            "Every link in this project needs a redaction profile. Choose one; `built-in` is always available.",
            code="profile_required",
            field="redaction",
        )
    if terms.max_opens is not None and not 1 <= terms.max_opens <= MOST_OPENS:
        raise _invalid(
            "max_opens", f"A link can have 1 to {MOST_OPENS:,} views; leave the number out for no limit."
        )
    if (
        terms.passphrase is not None
        and not SHORTEST_PASSPHRASE <= len(terms.passphrase) <= LONGEST_PASSPHRASE
    ):
        raise _invalid(
            "passphrase",
            f"A passphrase must have {SHORTEST_PASSPHRASE} to {LONGEST_PASSPHRASE:,} characters; leave it out for none.",
        )
    if terms.passphrase is not None and _UNTYPABLE.search(terms.passphrase):
        raise _invalid(
            "passphrase", "The passphrase contains an invalid character (a lone surrogate). Remove it."
        )
    if len(terms.label) > LONGEST_LABEL:
        raise _invalid("label", f"A label can have at most {LONGEST_LABEL} characters; shorten it.")


def end_of(terms: Terms, now: datetime, policy: Policy = OPEN) -> datetime:
    """Return when the link expires."""
    return terms.expires_at or now + min(DEFAULT_LIFETIME, policy.longest)


def check_end(expires_at: datetime | None, now: datetime, longest: timedelta) -> None:
    """Raise `InvalidInput` for an end in the past or too far away."""
    if expires_at is None:
        return
    if expires_at.tzinfo is None:
        raise _invalid("expires_at", "The expiry time needs a UTC offset, for example 2026-12-04T09:00:00Z.")
    if expires_at <= now:
        raise _invalid("expires_at", "The link would already have expired. Choose a later expiry time.")
    if expires_at > now + longest:
        raise _invalid(
            "expires_at",
            f"A link can be valid for at most {longest.days} days here. Choose an earlier expiry time.",
        )


def _invalid(field: str, says: str) -> InvalidInput:
    return InvalidInput(says, code="invalid_field", field=field)
