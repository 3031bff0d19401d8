"""At which rank frames stand for a query, in every mode, over the whole collection and not only where a find looks.

A find orders two windows of the best; beyond them a hybrid rank is counted on: after all that the windows hold, by the fusion
of both whole legs. What a find would show has the rank that it would show it at; one of a large collection, which looks by an
index, may miss some.
"""

from collections.abc import Collection as Those
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from django.db import transaction

from timemachine.base.errors import TooLarge
from timemachine.base.faithful import searchable
from timemachine.retrieval import ranking
from timemachine.retrieval.cutting import CutRule, Ranked, best_first, cut
from timemachine.retrieval.finding import MODES, WINDOW, Query, check, depth
from timemachine.retrieval.fusion import fuse
from timemachine.retrieval.meaning import Meaning, meaning_of
from timemachine.retrieval.models import Collection
from timemachine.retrieval.moment import Moment, hold
from timemachine.retrieval.queries import frames_at
from timemachine.retrieval.question import weighed

MOST_RANKED: Final = 200_000
"""How many frames a collection may have to be ranked whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a frame stands in one mode: its rank among so many that are ranked, and which cut would leave it in.

    None as a rank: the mode does not rank it, for it shares no word, or has no vector. `by_adaptive` is for an adaptive cut of
    at most `WINDOW` frames.
    """

    rank: int | None
    of: int
    score: float | None
    by_top_k: bool
    by_adaptive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A frame at a moment: the version that it had then, and its place in each mode."""

    frame: int
    version: int
    places: Mapping[str, Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """How the named frames that existed at a moment stand for a query; those that did not exist are not among them."""

    as_of: datetime
    embedding_model: str | None
    frames: Mapping[int, Standing]


def standings(collection: Collection, query: Query, numbers: Those[int]) -> Standings:
    """How these frames stand for the query's text; its `top_k`, thresholds, moment and embedding model count, its mode does not.

    Raises as a find does, and `TooLarge` for a collection that is too large to be ranked whole.
    """
    check(query)
    words = searchable(query.text)
    meaning = meaning_of(collection, words, query.embedding_model)
    with transaction.atomic():
        moment = hold(collection.id, query.as_of)
        there = {
            row: (number, version)
            for row, number, version in frames_at(collection, moment.at)
            .filter(number__in=numbers)
            .values_list("id", "number", "version")
        }
        legs = _legs(collection, words, meaning, moment) if there else {}
    modes = {mode: _whole(mode, legs, query, meaning.weight) for mode in MODES} if there else {}
    frames = {
        number: Standing(
            frame=number,
            version=version,
            places={mode: _place(row, *ranked) for mode, ranked in modes.items()},
        )
        for row, (number, version) in there.items()
    }
    return Standings(as_of=moment.at, embedding_model=meaning.model, frames=frames)


type _Whole = tuple[Mapping[int, int], Mapping[int, float], int, int]
"""Of a mode: the rank of every frame row, its score, and how many stay by number and adaptively."""


def _legs(
    collection: Collection, words: str, meaning: Meaning, moment: Moment
) -> dict[str, dict[int, float]]:
    """Both legs, whole; what is made of them is made once the collection is let go."""
    _check_size(collection, moment)
    question = weighed(collection.id, words, moment.at, moment.counted)
    lexical = ranking.lexical(collection.id, question, moment.at, MOST_RANKED)
    semantic: dict[int, float] = {}
    if meaning.vector:
        semantic = ranking.semantic(collection.id, meaning.vector, meaning.model, moment.at, MOST_RANKED)
    return {"lexical": lexical, "semantic": semantic}


def _check_size(collection: Collection, moment: Moment) -> None:
    frames = frames_at(collection, moment.at).count() if moment.counted is None else moment.counted
    if frames > MOST_RANKED:
        raise TooLarge(
            f"The collection has {frames:,} frames; one of up to {MOST_RANKED:,} can be ranked whole.",
            code="too_many_to_rank",
        )


def _whole(mode: str, legs: Mapping[str, dict[int, float]], query: Query, weight: float) -> _Whole:
    windows = {name: dict(islice(leg.items(), depth(query.top_k))) for name, leg in legs.items()}
    score, whole = (
        fuse(each["lexical"], each["semantic"], weight) if mode == "hybrid" else each[mode]
        for each in (windows, legs)
    )
    order = best_first(score)
    ranks = {row: rank for rank, row in enumerate(order, 1)}
    for row in best_first(whole):
        ranks.setdefault(row, len(ranks) + 1)
    ranked = Ranked(
        order=order,
        score=score,
        legs={name: leg for name, leg in windows.items() if mode in (name, "hybrid")},
    )
    least = query.min_score if mode == query.mode else None
    adaptive = CutRule(
        mode=mode, top_k=WINDOW, adaptive=True, min_score=least, relative=query.relative, cliff=query.cliff
    )
    by_number = cut(ranked, CutRule(mode=mode, top_k=query.top_k, min_score=least)).keep
    return ranks, whole | score, by_number, cut(ranked, adaptive).keep


def _place(
    row: int, ranks: Mapping[int, int], scores: Mapping[int, float], by_number: int, adaptively: int
) -> Place:
    rank = ranks.get(row)
    return Place(
        rank=rank,
        of=len(ranks),
        score=scores.get(row),
        by_top_k=rank is not None and rank <= by_number,
        by_adaptive=rank is not None and rank <= adaptively,
    )
