"""How an API key is written: `tmk_<id>_<secret>`. Pure.

The prefix lets scanners of secrets find a leaked one; the id finds its row; the secret is 256 random bits.
"""

import re
from dataclasses import dataclass, field

_WRITTEN = re.compile(r"tmk_([a-z0-9]{12})_([A-Za-z0-9_-]{43})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyText:
    """The two parts of a written key."""

    id: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"tmk_{self.id}_{self.secret}"


def parse_key(text: str) -> KeyText | None:
    """The parts of a written key, or None for anything else; white space around it does not matter."""
    found = _WRITTEN.fullmatch(text.strip())
    return KeyText(id=found[1], secret=found[2]) if found else None
