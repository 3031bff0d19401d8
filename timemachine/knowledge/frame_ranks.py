"""At which rank frames stand for a query, in every mode, over the whole collection and not only where a find looks.

A find orders two windows of the best; beyond them a hybrid rank is counted on: after all that the windows hold, by the fusion
of both whole legs. What a find would show has the rank that it would show it at; one of a large collection, which looks by an
index, may miss some.

Frames are not sorted to tell the ranks of a few: how many of the others are better is counted.
"""

from collections.abc import Collection as Those
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Final

from django.db import transaction

from timemachine.core.pure.errors import TooLarge
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge import ranking
from timemachine.knowledge.collection_time import Moment, hold
from timemachine.knowledge.cutting import CutRule, Ranked, best_first, cut
from timemachine.knowledge.find import MODES, WINDOW, Query, check, depth
from timemachine.knowledge.models import Collection
from timemachine.knowledge.pure.fusion import fuse
from timemachine.knowledge.queries import frames_at
from timemachine.knowledge.query_vectors import Meaning, meaning_of
from timemachine.knowledge.question import weighed

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


type _Rows = Mapping[int, tuple[int, int]]
"""The rows of frames, each with its number and version."""
type _Leg = dict[int, float]
type _State = datetime | None
"""What tells moments with different frames apart; None for those since which nothing has changed."""


def standings(collection: Collection, query: Query, numbers: Those[int]) -> Standings:
    """How these frames stand for the query's text; its `top_k`, thresholds, moment and embedding model count, its mode does not.

    Raises as a find does, and `TooLarge` for a collection that is too large to be ranked whole.
    """
    [found] = standings_of(collection, [query], numbers)
    return found


def standings_of(collection: Collection, queries: Sequence[Query], numbers: Those[int]) -> list[Standings]:
    """How these frames stand for each of some queries of one text; what several of them share is looked up and ranked once.

    Raises as `standings` does.
    """
    for query in queries:
        check(query)
    words = searchable(queries[0].text)
    names = [query.embedding_model or collection.embedding_model for query in queries]
    by_name = {name: meaning_of(collection, words, name) for name in names}
    meanings = [by_name[name] for name in names]
    with transaction.atomic():
        moments = [hold(collection.id, query.as_of) for query in queries]
        at = {_state(moment): moment for moment in moments}
        there = {state: _there(collection, moment, numbers) for state, moment in at.items()}
        seen = {state: moment for state, moment in at.items() if there[state]}
        lexical = {state: _lexical(collection, words, moment) for state, moment in seen.items()}
        semantic = {
            meaning.model: _semantic(collection, meaning, seen) for meaning in by_name.values() if seen
        }
    ranked: dict[tuple[_State, str, Query], dict[int, Standing]] = {}
    for query, meaning, moment in zip(queries, meanings, moments, strict=True):
        state, model = _state(moment), meaning.model
        if (state, model, _how(query)) not in ranked:
            legs = {"lexical": lexical[state], "semantic": semantic[model][state]} if state in seen else {}
            ranked[state, model, _how(query)] = _frames(there[state], legs, query, meaning.weight)
    return [
        Standings(
            as_of=moment.at,
            embedding_model=meaning.model,
            frames=ranked[_state(moment), meaning.model, _how(query)],
        )
        for query, meaning, moment in zip(queries, meanings, moments, strict=True)
    ]


def _state(moment: Moment) -> _State:
    return moment.at if moment.counted is None else None


def _how(query: Query) -> Query:
    """The query but for what its moment and its meaning say already."""
    return replace(query, as_of=None, embedding_model=None)


def _there(collection: Collection, moment: Moment, numbers: Those[int]) -> _Rows:
    frames = frames_at(collection, moment.at).filter(number__in=numbers)
    return {row: (number, version) for row, number, version in frames.values_list("id", "number", "version")}


def _lexical(collection: Collection, words: str, moment: Moment) -> _Leg:
    _check_size(collection, moment)
    question = weighed(collection.id, words, moment.at, moment.counted)
    return ranking.lexical(collection.id, question, moment.at, MOST_RANKED)()


def _semantic(collection: Collection, meaning: Meaning, seen: Mapping[_State, Moment]) -> dict[_State, _Leg]:
    """The whole leg at each moment; of several moments in one look."""
    if not meaning.vector:
        return {state: {} for state in seen}
    moments = [moment.at for moment in seen.values()]
    if len(moments) == 1:
        legs = [ranking.semantic(collection.id, meaning.vector, meaning.model, moments[0], MOST_RANKED)()]
    else:
        legs = ranking.semantic_at(collection.id, meaning.vector, meaning.model, moments)
    return dict(zip(seen, legs, strict=True))


def _check_size(collection: Collection, moment: Moment) -> None:
    frames = frames_at(collection, moment.at).count() if moment.counted is None else moment.counted
    if frames > MOST_RANKED:
        raise TooLarge(
            f"The collection has {frames:,} frames; one of up to {MOST_RANKED:,} can be ranked whole.",
            code="too_many_to_rank",
        )


def _frames(there: _Rows, legs: Mapping[str, _Leg], query: Query, weight: float) -> dict[int, Standing]:
    modes = {mode: _places(mode, legs, query, weight, there) for mode in MODES} if there else {}
    return {
        number: Standing(
            frame=number, version=version, places={mode: places[row] for mode, places in modes.items()}
        )
        for row, (number, version) in there.items()
    }


def _places(
    mode: str, legs: Mapping[str, _Leg], query: Query, weight: float, rows: _Rows
) -> dict[int, Place]:
    """Where these rows stand in one mode: in the window as a find orders it, or behind it."""
    windows = {name: dict(islice(leg.items(), depth(query.top_k))) for name, leg in legs.items()}
    score = _scores(mode, windows, weight)
    order = best_first(score)
    ranked = Ranked(
        order=order,
        score=score,
        legs={name: leg for name, leg in windows.items() if mode in (name, "hybrid")},
    )
    shown = _Shown(
        by_top_k=cut(ranked, _rule(mode, query, query.top_k, adaptive=False)).keep,
        by_adaptive=cut(ranked, _rule(mode, query, WINDOW, adaptive=True)).keep,
    )
    ranks = {row: (rank, score[row]) for rank, row in enumerate(order, 1)}
    if any(row not in ranks for row in rows):
        whole = _scores(mode, legs, weight)
        behind = [row for row in rows if row in whole and row not in ranks]
        ranks |= {row: (_rank_behind(order, whole, row), whole[row]) for row in behind}
    of = len(legs["lexical"].keys() | legs["semantic"].keys()) if mode == "hybrid" else len(legs[mode])
    return {row: _place(ranks.get(row), of, shown) for row in rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """How many frames each cut leaves in."""

    by_top_k: int
    by_adaptive: int


def _scores(mode: str, legs: Mapping[str, _Leg], weight: float) -> _Leg:
    return fuse(legs["lexical"], legs["semantic"], weight) if mode == "hybrid" else legs[mode]


def _rule(mode: str, query: Query, top_k: int, *, adaptive: bool) -> CutRule:
    return CutRule(
        mode=mode,
        top_k=top_k,
        adaptive=adaptive,
        min_score=query.min_score if mode == query.mode else None,
        relative=query.relative if adaptive else None,
        cliff=query.cliff if adaptive else None,
    )


def _rank_behind(order: Sequence[int], whole: _Leg, row: int) -> int:
    """The rank of a row that is not in the window: behind all that are, and behind the others that `best_first` puts before it."""
    own = whole[row]
    better = sum(map(own.__lt__, whole.values()))
    alike = sum(1 for other, score in whole.items() if score == own and other < row)
    counted = sum(1 for other in order if whole[other] > own or (whole[other] == own and other < row))
    return len(order) + better + alike - counted + 1


def _place(ranked: tuple[int, float] | None, of: int, shown: _Shown) -> Place:
    rank, score = ranked or (None, None)
    return Place(
        rank=rank,
        of=of,
        score=score,
        by_top_k=rank is not None and rank <= shown.by_top_k,
        by_adaptive=rank is not None and rank <= shown.by_adaptive,
    )
