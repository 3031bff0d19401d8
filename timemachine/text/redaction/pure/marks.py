"""What stands in the place of something that was withheld: `[withheld: e-mail]`, or erased for good: `[erased: e-mail]`. Pure."""

import re
from typing import Any, Final

NAMES: Final = {
    "secret": "secret",
    "email": "e-mail",
    "phone": "phone number",
    "card": "card number",
    "iban": "bank account (IBAN)",
    "ssn": "social security number (US)",
}
"""What a mark calls the findings of each detector. One that is added gets a name that no pattern could have had: profiles keep their patterns."""
FIELD, HASH, BYTES = "field", "hash", "file"
"""What it calls a field that is withheld by its path, the hash of something withheld, and bytes that are no text."""
DELETED_TURN: Final = "[deleted: turn]"
"""What stands for a step that was deleted."""
REPEATS, REPEATS_ERASED = "repeats what is withheld", "repeats what is erased"
"""What it calls what is left out because it quotes or repeats something withheld."""
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
    """The mark of that name."""
    return f"{OPENING}{name}]"


def erased(name: str) -> str:
    """The mark of something that is in no table any more."""
    return f"{OPENING_ERASED}{name}]"


def as_erased(value: Any, names: frozenset[str]) -> Any:
    """A JSON value that was just redacted, with marks of these names that say that it was erased. What a field's form needs is kept."""
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
    """Where a character of a text is once `as_erased` was done to it, whose marks are shorter."""
    behind = sum(
        found.end() <= offset
        for found in _MARK.finditer(text)
        if found[0].startswith(OPENING) and found[1] in names
    )
    return offset - behind * (len(OPENING) - len(OPENING_ERASED))


def has_mark(text: str) -> bool:
    """Whether a mark stands anywhere in a text."""
    return "[" in text and _MARK.search(text) is not None


def is_mark(text: str, names: frozenset[str]) -> bool:
    """Whether a text is a mark of these names and nothing else."""
    found = _MARK.fullmatch(text)
    return found is not None and found[1] in names


def behind_mark(text: str, place: int) -> int:
    """The place, or the end of the mark inside which it lies: nothing begins or ends in a mark."""
    begin = text.rfind("[", 0, place)
    found = _MARK.match(text, begin) if begin >= 0 else None
    return found.end() if found is not None and found.end() > place else place


def can_be_a_name(name: str) -> bool:
    """Whether a pattern can be called so: letters, digits, spaces, dots, hyphens, and no name that is taken."""
    return len(name) <= LONGEST_NAME and name not in RESERVED and _NAME.fullmatch(name) is not None


def stretches(text: str, names: frozenset[str]) -> list[tuple[int, int]]:
    """What of a text lies between its marks: the starts and ends of stretches that are not empty.

    A mark never becomes part of a finding, so what is withheld twice reads as what is withheld once.
    """
    found, begin = [], 0
    for each in _MARK.finditer(text):
        if each[1] in names:
            found.append((begin, each.start()))
            begin = each.end()
    found.append((begin, len(text)))
    return [(start, end) for start, end in found if end > start]


_MARK: Final = re.compile(r"\[(?:withheld|erased): ([^\[\]]{1,40})\]")
