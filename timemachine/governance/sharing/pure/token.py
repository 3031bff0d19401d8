"""Tokens in the URL of a share link, `tms_<public id>_<secret>`, and the error for invalid ones. Pure.

Secret scanners find a leaked token by its prefix. The public id finds the row; the secret has 256 bits.
"""

import re
from dataclasses import dataclass, field

from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import public_id, secret

_WRITTEN = re.compile(r"tms_([a-z0-9]{12})_([A-Za-z0-9_-]{43})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """The two parts of a token. Only `str` shows the secret."""

    public_id: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"tms_{self.public_id}_{self.secret}"


def new_token() -> Token:
    """Return a new random token."""
    return Token(public_id=public_id(), secret=secret())


def parse_token(text: str) -> Token | None:
    """Return the parts of a token, or None for anything else."""
    found = _WRITTEN.fullmatch(text)
    return Token(public_id=found[1], secret=found[2]) if found else None


def link_not_valid() -> NotFound:
    """Return the error for every link, or page of one, that shows nothing; only its owner can see why."""
    return NotFound(
        "This link does not exist or is no longer valid. Ask the sender for a new one.",
        code="share_link_not_valid",
    )
