"""A text without its formatting: what is left when case, white space, markdown and punctuation do not count."""

import re
import unicodedata
from typing import Final

_LINE_START: Final = re.compile(
    r"^[ \t]*(?:>[ \t]?)*(?:#{1,6}[ \t]+|[-*+•][ \t]+|\d{1,3}[.)][ \t]+)?", re.MULTILINE
)
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# Groups 1 and 2 stay as they are: one mark between two letters or digits (2.5, state-of-the-art, a/b), and a minus sign.
_MARKS: Final = re.compile(
    r"(?=[^\w\s]|_)"  # told at one look at most characters: each of the others is tried at every one of them
    r"(?:((?<=[^\W_])[-'._/:@&+](?=[^\W_]))|((?<!\w)-(?=\d))|[^\w\s]+|(?<![^\W_])_+|_+(?![^\W_]))"
)
_KEPT: Final = frozenset("%&@§‰")
_MARKDOWN: Final = frozenset("`|^*#~_")
_FORMS: Final = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-"}
)


def plain(text: str) -> str:
    """The text in NFKC and without case, white space run together, markdown and punctuation taken away.

    Numbers stay apart (2.5 is not 25, -5 is not 5) and so do signs that mean something (%, $, <).
    """
    folded = unicodedata.normalize("NFKC", _LINE_START.sub("", text)).casefold().translate(_FORMS)
    return " ".join(_MARKS.sub(_kept, _THOUSANDS.sub("", folded)).split())


def _kept(found: re.Match[str]) -> str:
    if found.lastindex:
        return found[0]
    return "".join(f" {mark} " if _means_something(mark) else " " for mark in found[0])


def _means_something(mark: str) -> bool:
    return mark in _KEPT or (unicodedata.category(mark)[0] in "SMC" and mark not in _MARKDOWN)
