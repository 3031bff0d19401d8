"""Marks, which replace withheld or erased text: `[withheld: e-mail]`, `[erased: e-mail]`."""

import re
from typing import Any, Final

NAMES: Final = {
    "secret": "secret",
    "email": "e-mail",
    "phone": "phone number",
    "card": "card number",
    "iban": "bank account (IBAN)",
    "ssn": "social security number (US)",
    "password": "password (or key)",
    "machine": "user or host (machine)",
    "image": "image (base64)",
}
"""The name in the marks of each detector. A new detector's name must be one that no pattern could have, as profiles
keep theirs.
"""
FIELD, HASH, BYTES = "field", "hash", "file"
"""The names for a field withheld by its path, for the hash of something withheld, and for binary data."""
DELETED_TURN: Final = "[deleted: turn]"
"""Replaces a deleted step."""
REPEATS, REPEATS_ERASED = "repeats what is withheld", "repeats what is erased"
"""The names for what is left out because it repeats something withheld or erased."""
RESERVED: Final = frozenset({*NAMES.values(), FIELD, HASH, BYTES, REPEATS, REPEATS_ERASED})
OPENING: Final = "[withheld: "
OPENING_ERASED: Final = "[erased: "
LONGEST_NAME: Final = 40
PATTERN: Final = r"\[(?:withheld|erased): [^\[\]]{1,40}\]"
"""A mark as a regular expression without groups."""
PATTERN_OF_MARKS: Final = re.compile(PATTERN)
"""The same, compiled."""
_NAME: Final = re.compile(r"[^\W_](?:[\w .-]*[^\W_])?")


def mark(name: str) -> str:
    """Return the mark with this name."""
    return f"{OPENING}{name}]"


def erased(name: str) -> str:
    """Return the mark of something that was erased."""
    return f"{OPENING_ERASED}{name}]"


def as_erased(value: Any, names: frozenset[str]) -> Any:
    """Return a redacted JSON value with its marks of these names turned into marks of erasure."""
    if isinstance(value, str):
        return _MARK.sub(lambda found: _as_erased(found[1]) if found[1] in names else found[0], value)
    if isinstance(value, list):
        return [as_erased(each, names) for each in value]
    if isinstance(value, dict):
        return {as_erased(key, names): as_erased(each, names) for key, each in value.items()}
    return value


def _as_erased(name: str) -> str:
    return erased(REPEATS_ERASED if name == REPEATS else name)


def erased_place(text: str, offset: int, names: frozenset[str]) -> int:
    """Return the position of a character after `as_erased`, whose marks are shorter."""
    behind = sum(
        found.end() <= offset
        for found in _MARK.finditer(text)
        if found[0].startswith(OPENING) and found[1] in names
    )
    return offset - behind * (len(OPENING) - len(OPENING_ERASED))


def has_mark(text: str) -> bool:
    """Return whether the text contains a mark."""
    return "[" in text and _MARK.search(text) is not None


def is_mark(text: str, names: frozenset[str]) -> bool:
    """Return whether the text is exactly a mark with one of these names."""
    found = _MARK.fullmatch(text)
    return found is not None and found[1] in names


def after_mark(text: str, place: int) -> int:
    """Return the position, or the end of the mark that it is inside of: nothing begins or ends within a mark."""
    begin = text.rfind("[", 0, place)
    found = _MARK.match(text, begin) if begin >= 0 else None
    return found.end() if found is not None and found.end() > place else place


def can_be_a_name(name: str) -> bool:
    """Return whether a pattern can have this name: letters, digits, spaces, dots, hyphens, and not reserved."""
    return len(name) <= LONGEST_NAME and name not in RESERVED and _NAME.fullmatch(name) is not None


def spans_between_marks(text: str, names: frozenset[str]) -> list[tuple[int, int]]:
    """Return the non-empty spans between the marks of a text.

    A mark is never part of a finding, so redacting twice gives the same result as redacting once.
    """
    found, begin = [], 0
    for each in _MARK.finditer(text):
        if each[1] in names:
            found.append((begin, each.start()))
            begin = each.end()
    found.append((begin, len(text)))
    return [(start, end) for start, end in found if end > start]


_MARK: Final = re.compile(r"\[(?:withheld|erased): ([^\[\]]{1,40})\]")
