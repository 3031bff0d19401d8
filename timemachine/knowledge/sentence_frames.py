"""Which frames hold a sentence: word for word, or where none does, the nearest that a find brings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest
from typing import Final, Literal

from django.contrib.postgres.search import SearchQuery

from timemachine.core.payloads.queries import text
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.find import Found, Query, find
from timemachine.knowledge.models import Collection, Frame

MOST_LOOKED_AT: Final = 50
"""How many of the frames that share words with the sentence are read."""
MOST_HOLDING, NEAREST, MOST_VERSIONS = 5, 3, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A frame of a collection, and how it was come by: it `holds` the sentence, is `nearest` to it, or was `named`.

    `versions` are those of its `of_versions` that hold the sentence, the latest first; None where none was looked for.
    """

    frame: int
    title: str | None
    by: Literal["holds", "nearest", "named"]
    versions: tuple[int, ...] | None = None
    of_versions: int = 0

    @property
    def says(self) -> str:
        """How it was come by, in words."""
        if self.by == "named":
            return "named"
        if self.by == "nearest":
            return "nearest; none holds the sentence word for word"
        every = self.versions is None or len(self.versions) == self.of_versions
        return "holds the sentence" if every else f"held the sentence in {in_words(self.versions or ())}"


def in_words(versions: Sequence[int]) -> str:
    """Some versions, the earliest first."""
    *others, last = sorted(versions)
    return f"versions {', '.join(map(str, others))} and {last}" if others else f"version {last}"


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
        return _with_versions(collection, _each_once(holding)[:MOST_HOLDING], asked)
    nearest = [
        _holder(hit, "nearest")
        for at in moments
        for hit in find(collection, Query(text=sentence, top_k=NEAREST, as_of=at)).hits
    ]
    return _each_once(nearest)[:MOST_HOLDING]


def _with_versions(collection: Collection, holding: Sequence[Holder], asked: str) -> list[Holder]:
    """The same with those of their versions that hold the sentence; of a frame with very many, the latest are looked at."""
    found = []
    for holder in holding:
        versions = Frame.objects.filter(collection=collection, number=holder.frame)
        latest = versions.select_related("payload").order_by("-version")[:MOST_VERSIONS]
        having = tuple(each.version for each in latest if asked in _plain(text(each.payload)))
        found.append(replace(holder, versions=having, of_versions=versions.count()))
    return found


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
