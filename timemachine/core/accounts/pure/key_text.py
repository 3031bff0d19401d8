"""The text of an API key: `tmk_<id>_<secret>`.

The prefix lets secret scanners find leaked keys, the id finds the row, and the secret has 256 random bits.
"""

import re
from dataclasses import dataclass, field

_WRITTEN = re.compile(r"tmk_([a-z0-9]{12})_([A-Za-z0-9_-]{43})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyText:
    """The two parts of a key's text."""

    id: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"tmk_{self.id}_{self.secret}"


def parse_key(text: str) -> KeyText | None:
    """Parse the text of a key, ignoring surrounding white space. Return None if it is not one."""
    found = _WRITTEN.fullmatch(text.strip())
    return KeyText(id=found[1], secret=found[2]) if found else None
