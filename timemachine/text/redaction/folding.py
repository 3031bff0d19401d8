"""A text as somebody means it who writes a number or an address in other characters: other hyphens, digits of full width, between them what nobody sees. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

_PLAIN: Final = {
    **{wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), ord("-")),
    **dict.fromkeys((0xA0, 0x2007, 0x202F, 0x3000), ord(" ")),
}
"""Characters for which another stands that is in every pattern; one for one, so that all keep their places."""
_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")


def spans_folded(find: Callable[[str], Iterable[tuple[int, int]]], text: str) -> Iterator[tuple[int, int]]:
    """Where something is found in a text once it is folded, as places of the text."""
    if text.isascii():
        yield from find(text)
        return
    plain = text.translate(_PLAIN)
    if not _UNSEEN.search(plain):
        yield from find(plain)
        return
    places = [place for place, each in enumerate(plain) if not _UNSEEN.match(each)]
    for start, end in find("".join(plain[place] for place in places)):
        yield places[start], places[end - 1] + 1
