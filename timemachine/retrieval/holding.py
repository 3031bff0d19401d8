"""Which frames hold a sentence: word for word, or where none does, the nearest that a find brings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from typing import Final, Literal

from django.contrib.postgres.search import SearchQuery

from timemachine.base.faithful import searchable
from timemachine.payloads.queries import text
from timemachine.retrieval.finding import Found, Query, find
from timemachine.retrieval.models import Collection, Frame

MOST_LOOKED_AT: Final = 50
"""How many of the frames that share words with the sentence are read."""
MOST_HOLDING, NEAREST = 5, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A frame of a collection, and how it was come by: it `holds` the sentence, is `nearest` to it, or was `named`."""

    frame: int
    title: str | None
    by: Literal["holds", "nearest", "named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    frame: int
    title: str
    text: str


def holders(collection: Collection, sentence: str, moments: Sequence[datetime | None]) -> list[Holder]:
    """The frames that hold the sentence at one of these moments (None: now) or ever held it, spaces and case aside.

    Where none does, those that are nearest to it at these moments. A sentence with broken-off words is found only at the moments.

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
    holding = [_holder(hit, "holds") for hit in found if asked in _plain(hit.text)]
    holding += [
        _holder(frame, "holds") for frame in _ever(collection, sentence) if asked in _plain(frame.text)
    ]
    if holding:
        return _each_once(holding)[:MOST_HOLDING]
    nearest = [
        _holder(hit, "nearest")
        for at in moments
        for hit in find(collection, Query(text=sentence, top_k=NEAREST, as_of=at)).hits
    ]
    return _each_once(nearest)[:MOST_HOLDING]


def _ever(collection: Collection, sentence: str) -> list[_Version]:
    """The latest versions, of whatever moment, that have all words of the sentence."""
    having = Frame.objects.filter(collection=collection, terms=_words(sentence))
    # sorted here: Postgres would read all frames in the order of their ids for the first few, and no index of their words
    latest = nlargest(MOST_LOOKED_AT, having.values_list("id", flat=True))
    versions = Frame.objects.filter(id__in=latest).select_related("payload").order_by("-id")
    return [_Version(frame=frame.number, title=frame.title, text=text(frame.payload)) for frame in versions]


def _words(sentence: str) -> SearchQuery:
    return SearchQuery(searchable(sentence), config="pg_catalog.english")


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _holder(found: Found | _Version, by: Literal["holds", "nearest"]) -> Holder:
    return Holder(frame=found.frame, title=found.title or None, by=by)


def _each_once(found: Sequence[Holder]) -> list[Holder]:
    first = {each.frame: each for each in reversed(found)}
    return list(reversed(first.values()))
