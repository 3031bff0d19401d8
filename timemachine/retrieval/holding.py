"""Which frames hold a sentence: word for word, or where none does, the nearest that a find brings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from timemachine.retrieval.finding import Found, Query, find
from timemachine.retrieval.models import Collection

MOST_LOOKED_AT: Final = 50
"""How many of the frames that share words with the sentence are read."""
MOST_HOLDING, NEAREST = 5, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A frame of a collection, and how it was come by: it `holds` the sentence, is `nearest` to it, or was `named`."""

    frame: int
    title: str | None
    by: Literal["holds", "nearest", "named"]


def holders(collection: Collection, sentence: str, moments: Sequence[datetime | None]) -> list[Holder]:
    """The frames that hold the sentence at one of these moments (None: now), spaces and case aside; else the nearest ones.

    Raises as a find does.
    """
    asked = _plain(sentence)
    found = [
        hit
        for moment in moments
        for hit in find(
            collection, Query(text=sentence, mode="lexical", top_k=MOST_LOOKED_AT, as_of=moment)
        ).hits
    ]
    holding = [hit for hit in found if asked in _plain(hit.text)]
    if holding:
        return _named(holding, "holds")[:MOST_HOLDING]
    nearest = [
        hit for at in moments for hit in find(collection, Query(text=sentence, top_k=NEAREST, as_of=at)).hits
    ]
    return _named(nearest, "nearest")[:MOST_HOLDING]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _named(hits: Sequence[Found], by: Literal["holds", "nearest"]) -> list[Holder]:
    first = {hit.frame: hit for hit in reversed(hits)}
    return [Holder(frame=hit.frame, title=hit.title or None, by=by) for hit in reversed(first.values())]
