"""What was erased of a step may stand elsewhere in its session, word for word: rules that find its sentences again. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import re2

from timemachine.language.sentences import sentence_texts
from timemachine.redaction.engine import readable
from timemachine.redaction.rules import Pattern, Rules

NAME: Final = "repeated text"
SHORTEST: Final = 16
"""Characters; what is shorter stands in other places without being the same thing."""
_LONGEST: Final = 1_000
MOST: Final = 40_000
"""Characters of all that is looked for; what is beyond is only found where whole texts are the same."""


def gone(before: Any, after: Any) -> Iterator[str]:
    """The texts of a JSON value that are not in it any more as they were."""
    if before == after:
        return
    if isinstance(before, dict):
        inner = after if isinstance(after, dict) else {}
        for key, value in before.items():
            yield from gone(value, inner.get(key))
    elif isinstance(before, list):
        same = isinstance(after, list) and len(after) == len(before)
        for place, value in enumerate(before):
            yield from gone(value, after[place] if same else None)
    elif isinstance(before, str):
        yield before


def rules_for(texts: Iterable[str]) -> Rules | None:
    """Rules that find these texts, and each of their sentences, wherever they stand; None where all are too short to be looked for."""
    pieces = {piece for text in texts for piece in _pieces(text) if len(piece) >= SHORTEST}
    chosen, room = list[str](), MOST
    for piece in sorted(pieces, key=lambda each: (-len(each), each)):
        if len(piece) <= room:
            chosen.append(piece)
            room -= len(piece)
    if not chosen:
        return None
    return Rules(patterns=(Pattern(name=NAME, pattern="|".join(re2.escape(each) for each in chosen)),))


def _pieces(text: str) -> Iterator[str]:
    legible = readable(text)
    for each in (legible, *sentence_texts(legible)):
        stripped = each.strip()
        yield from (stripped[begin : begin + _LONGEST] for begin in range(0, len(stripped), _LONGEST))
