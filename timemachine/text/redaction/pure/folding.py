"""Search a text regardless of how characters are written: other hyphens, full-width digits, invisible characters
between.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

_PLAIN: Final = {
    **{wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), ord("-")),
    **dict.fromkeys((0xA0, 0x2007, 0x202F, 0x3000), ord(" ")),
}
"""Replacements for characters by those that patterns contain. One for one, so that all positions stay the same."""
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")


def spans_folded(find: Callable[[str], Iterable[tuple[int, int]]], text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans that `find` finds in the folded text, as spans of the original text."""
    if text.isascii():
        yield from find(text)
        return
    plain = text.translate(_PLAIN)
    if not _INVISIBLE.search(plain):
        yield from find(plain)
        return
    places = [place for place, each in enumerate(plain) if not _INVISIBLE.match(each)]
    for start, end in find("".join(plain[place] for place in places)):
        yield places[start], places[end - 1] + 1
