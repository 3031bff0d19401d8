"""Recorded text made safe to display."""

import re
from typing import Final

# Invisible characters, which can reorder or hide the text around them: C0 and C1 controls except tab and line feed,
# lone surrogates, bidirectional controls, zero-width marks, line and paragraph separators, the byte order mark.
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
# The common blocks of combining marks. A pile of them on one letter would cover the lines above and below.
_MARKS: Final = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]"
)
_PILE: Final = re.compile(f"({_MARKS}{{8}})({_MARKS}+)")
_NAMES: Final = {0: "NUL", 7: "BEL", 8: "BS", 11: "VT", 12: "FF", 13: "CR", 27: "ESC", 127: "DEL"}


def shown(text: str) -> str:
    """Replace every character that could hide or reorder others with a visible sign for it.

    Known controls become ⟨NUL⟩ or ⟨ESC⟩, other characters ⟨U+202E⟩. Line feeds and tabs stay, and CR LF becomes one
    line feed. After eight combining marks on one letter, the others are only counted.
    """
    named = _INVISIBLE.sub(_sign, text.replace("\r\n", "\n"))
    if named.isascii():
        return named
    return _PILE.sub(lambda found: f"{found[1]}⟨{len(found[2])} more marks⟩", named)


def _sign(match: re.Match[str]) -> str:
    number = ord(match.group())
    return f"⟨{_NAMES.get(number, f'U+{number:04X}')}⟩"
