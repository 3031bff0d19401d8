"""Find the frames that contain a sentence, or the nearest ones if none contains it word for word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest
from typing import Final, Literal

from django.contrib.postgres.search import SearchQuery

from timemachine.core.payloads.queries import text
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.find import FrameHit, Query, find
from timemachine.knowledge.models import Collection, Frame

MOST_LOOKED_AT: Final = 50
"""How many of the frames that share words with the sentence are read."""
MOST_HOLDING, NEAREST, MOST_VERSIONS = 5, 3, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceFrame:
    """A frame, and why it is listed: it `holds` the sentence, is `nearest` to it, or was `named`.

    `versions` are those of its `of_versions` that contain the sentence, latest first; None if they were not
    looked up.
    """

    frame: int
    title: str | None
    by: Literal["holds", "nearest", "named"]
    versions: tuple[int, ...] | None = None
    of_versions: int = 0

    @property
    def says(self) -> str:
        """Return the reason as text."""
        if self.by == "named":
            return "named"
        if self.by == "nearest":
            return "nearest; no frame contains the exact sentence"
        every = self.versions is None or len(self.versions) == self.of_versions
        return (
            "contains the sentence"
            if every
            else f"contained the sentence in {versions_text(self.versions or ())}"
        )


def versions_text(versions: Sequence[int]) -> str:
    """Return some versions as text, earliest first."""
    *others, last = sorted(versions)
    return f"versions {', '.join(map(str, others))} and {last}" if others else f"version {last}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    frame: int
    title: str
    text: str


def frames_with_sentence(
    collection: Collection, sentence: str, moments: Sequence[datetime | None]
) -> list[SentenceFrame]:
    """Return the frames that contain the sentence at one of these times (None: now) or ever did, ignoring case and
    white space.

    If there are none, return the frames nearest to it at these times. A sentence that begins or ends inside a
    word is found only at these times. Raises what a find raises.
    """
    normalised = _normalised(sentence)
    found = [
        hit
        for moment in moments
        for hit in find(
            collection, Query(text=sentence, mode="lexical", top_k=MOST_LOOKED_AT, as_of=moment)
        ).hits
    ]
    holding = [_sentence_frame(hit, "holds") for hit in found if normalised in _normalised(hit.text)]
    holding += [
        _sentence_frame(frame, "holds")
        for frame in _versions_with_words(collection, sentence)
        if normalised in _normalised(frame.text)
    ]
    if holding:
        return _with_versions(collection, _without_duplicates(holding)[:MOST_HOLDING], normalised)
    nearest = [
        _sentence_frame(hit, "nearest")
        for at in moments
        for hit in find(collection, Query(text=sentence, top_k=NEAREST, as_of=at)).hits
    ]
    return _without_duplicates(nearest)[:MOST_HOLDING]


def _with_versions(
    collection: Collection, holding: Sequence[SentenceFrame], normalised: str
) -> list[SentenceFrame]:
    """Add the versions that contain the sentence; of a frame with many versions, only the latest `MOST_VERSIONS`
    are read.
    """
    found = []
    for holder in holding:
        versions = Frame.objects.filter(collection=collection, number=holder.frame)
        latest = versions.select_related("payload").order_by("-version")[:MOST_VERSIONS]
        having = tuple(each.version for each in latest if normalised in _normalised(text(each.payload)))
        found.append(replace(holder, versions=having, of_versions=versions.count()))
    return found


def _versions_with_words(collection: Collection, sentence: str) -> list[_Version]:
    """Return the latest versions, of any time, that have all words of the sentence."""
    having = Frame.objects.filter(collection=collection, terms=_words(sentence))
    # sorted here: for ORDER BY … LIMIT, Postgres would read all frames by id and not use the index of their words
    latest = nlargest(MOST_LOOKED_AT, having.values_list("id", flat=True))
    versions = Frame.objects.filter(id__in=latest).select_related("payload").order_by("-id")
    return [_Version(frame=frame.number, title=frame.title, text=text(frame.payload)) for frame in versions]


def _words(sentence: str) -> SearchQuery:
    return SearchQuery(searchable(sentence), config="pg_catalog.english")


def _normalised(text: str) -> str:
    return " ".join(text.split()).casefold()


def _sentence_frame(found: FrameHit | _Version, by: Literal["holds", "nearest"]) -> SentenceFrame:
    return SentenceFrame(frame=found.frame, title=found.title or None, by=by)


def _without_duplicates(found: Sequence[SentenceFrame]) -> list[SentenceFrame]:
    first = {each.frame: each for each in reversed(found)}
    return list(reversed(first.values()))
