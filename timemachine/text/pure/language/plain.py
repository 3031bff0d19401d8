"""Text without formatting, for comparisons that ignore case, white space, Markdown and punctuation."""

import re
import unicodedata
from typing import Final

_LINE_START: Final = re.compile(
    r"^[ \t]*(?:>[ \t]?)*(?:#{1,6}[ \t]+|[-*+•][ \t]+|\d{1,3}[.)][ \t]+)?", re.MULTILINE
)
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# Groups 1 and 2 stay as they are: one mark between two letters or digits (2.5, state-of-the-art, a/b), and a minus sign.
_MARKS: Final = re.compile(
    r"(?=[^\w\s]|_)"  # rules out most characters quickly: the alternatives would be tried at each
    r"(?:((?<=[^\W_])[-'._/:@&+](?=[^\W_]))|((?<!\w)-(?=\d))|[^\w\s]+|(?<![^\W_])_+|_+(?![^\W_]))"
)
_MEANINGFUL: Final = frozenset("%&@§‰")
_MARKDOWN: Final = frozenset("`|^*#~_")
_FORMS: Final = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-"}
)


def plain(text: str) -> str:
    """Return the text in NFKC without case, Markdown and punctuation, with single spaces.

    Numbers stay distinct (2.5 is not 25, -5 is not 5), and so do meaningful symbols (%, $, <).
    """
    folded = unicodedata.normalize("NFKC", _LINE_START.sub("", text)).casefold().translate(_FORMS)
    return " ".join(_MARKS.sub(_replacement, _THOUSANDS.sub("", folded)).split())


def _replacement(found: re.Match[str]) -> str:
    if found.lastindex:
        return found[0]
    return "".join(f" {mark} " if _means_something(mark) else " " for mark in found[0])


def _means_something(mark: str) -> bool:
    return mark in _MEANINGFUL or (unicodedata.category(mark)[0] in "SMC" and mark not in _MARKDOWN)
