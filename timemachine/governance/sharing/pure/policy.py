"""What a project allows for its links. Pure."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from timemachine.core.pure.errors import InvalidInput, NotAllowed

LONGEST_DAYS: Final = 366


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
        """Return the longest lifetime of a link."""
        return timedelta(days=LONGEST_DAYS if self.longest_days is None else self.longest_days)


OPEN: Final = Policy()


def check(policy: Policy) -> None:
    """Raise `InvalidInput` if the policy is invalid."""
    if policy.longest_days is not None and not 1 <= policy.longest_days <= LONGEST_DAYS:
        raise InvalidInput(
            f"A link lives between 1 and {LONGEST_DAYS} days; leave it out for as long as any may.",
            code="invalid_field",
            field="longest_days",
        )


def require_allowed(policy: Policy) -> None:
    """Raise `NotAllowed` if links are forbidden."""
    if policy.forbidden:
        raise NotAllowed(
            "An administrator of this project has forbidden share links. Ask them to allow it under Settings, Sharing.",
            code="sharing_forbidden",
        )
