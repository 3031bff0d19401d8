"""Any recorded text made harmless to look at. Pure."""

import re
from typing import Final

# Invisible to a reader, and able to reorder or hide what stands beside them: C0 and C1 controls except tab and line feed,
# lone surrogates, bidirectional controls, zero-width marks, line and paragraph separators, the byte order mark.
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
# Marks on one letter, more than any script has: they would stand over the lines above and below. The common blocks of such marks.
_MARKS: Final = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]"
)
_HEAP: Final = re.compile(f"({_MARKS}{{8}})({_MARKS}+)")
_NAMES: Final = {0: "NUL", 7: "BEL", 8: "BS", 11: "VT", 12: "FF", 13: "CR", 27: "ESC", 127: "DEL"}


def shown(text: str) -> str:
    """The text with every character that could hide or reorder others replaced by a sign that names it.

    Known controls read as ⟨NUL⟩ or ⟨ESC⟩, any other character as ⟨U+202E⟩. Line feeds and tabs stay, and CR LF is one line feed. Of more than
    eight marks over one letter the others are counted.
    """
    named = _INVISIBLE.sub(_sign, text.replace("\r\n", "\n"))
    return named if named.isascii() else _HEAP.sub(_heap, named)


def _sign(match: re.Match[str]) -> str:
    number = ord(match.group())
    return f"⟨{_NAMES.get(number, f'U+{number:04X}')}⟩"


def _heap(match: re.Match[str]) -> str:
    return f"{match.group(1)}⟨{len(match.group(2))} more marks⟩"
