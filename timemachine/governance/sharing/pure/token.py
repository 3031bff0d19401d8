"""What stands in the address of a share link: `tms_<public id>_<secret>`. Pure.

The prefix lets scanners of secrets find a leaked one, the public id finds its row, the secret is 256 random bits.
"""

import re
from dataclasses import dataclass, field

from timemachine.core.pure.ids import public_id, secret

_WRITTEN = re.compile(r"tms_([a-z0-9]{12})_([A-Za-z0-9_-]{43})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """The two parts of a written token; the secret is in no representation of it but `str`."""

    public_id: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"tms_{self.public_id}_{self.secret}"


def new_token() -> Token:
    """A token that nobody has seen."""
    return Token(public_id=public_id(), secret=secret())


def parse_token(text: str) -> Token | None:
    """The parts of a written token, or None for anything else."""
    found = _WRITTEN.fullmatch(text)
    return Token(public_id=found[1], secret=found[2]) if found else None
