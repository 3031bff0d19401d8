"""The ranks of chosen frames for a query, in every mode, over the complete collection.

A find orders the best frames of two windows. Beyond them a hybrid rank continues after all frames of the
windows, by the fusion of the complete lists of both retrievers. A frame that a find would show has the rank
that the find shows; an approximate index of a large collection may miss some frames.

To rank a few frames, nothing is sorted: the better frames are counted.
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
from timemachine.knowledge.collection_time import Moment, lock_for_reading
from timemachine.knowledge.cutting import CutRule, Ranking, best_first, cut, needed_settings
from timemachine.knowledge.find import MODES, Query, check_query, search_depth
from timemachine.knowledge.models import Collection
from timemachine.knowledge.pure.cutoff import POOL
from timemachine.knowledge.pure.fusion import fuse
from timemachine.knowledge.queries import frames_at
from timemachine.knowledge.question import weighted_question
from timemachine.knowledge.vectors import QueryEmbedding, embed_query

MOST_RANKED: Final = 200_000
"""The largest collection whose frames can all be ranked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRank:
    """The rank of a frame in one mode, among `of` ranked frames, and which cuts would keep it.

    `rank` is None if the mode does not rank it: it shares no word or has no vector. `by_adaptive` is about an
    adaptive cut of the best `POOL` frames; `needs` are the settings with which it would keep the frame, None if
    it does or none would.
    """

    rank: int | None
    of: int
    score: float | None
    by_top_k: bool
    by_adaptive: bool
    needs: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRanks:
    """A frame at a time: the version that it had then, and its rank in each mode."""

    frame: int
    version: int
    places: Mapping[str, FrameRank]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankReport:
    """The ranks of those named frames that existed at a time."""

    as_of: datetime
    embedding_model: str | None
    frames: Mapping[int, VersionRanks]


type _Rows = Mapping[int, tuple[int, int]]
"""Frame rows, each with its number and version."""
type _Scores = dict[int, float]
type _State = datetime | None
"""Tells apart times with different frames; None for every time since the last change."""


def frame_ranks(collection: Collection, query: Query, numbers: Those[int]) -> RankReport:
    """Return the ranks of these frames for the query's text.

    The query's `top_k`, thresholds, time and embedding model count; its mode does not. Raises what a find
    raises, and `TooLarge` if the collection has more than `MOST_RANKED` frames.
    """
    [found] = frame_ranks_of_queries(collection, [query], numbers)
    return found


def frame_ranks_of_queries(
    collection: Collection, queries: Sequence[Query], numbers: Those[int]
) -> list[RankReport]:
    """Return the ranks of these frames for each of several queries with the same text. Shared parts are computed
    once.

    Raises what `frame_ranks` raises.
    """
    for query in queries:
        check_query(query)
    words = searchable(queries[0].text)
    names = [query.embedding_model or collection.embedding_model for query in queries]
    by_name = {name: embed_query(collection, words, name) for name in names}
    meanings = [by_name[name] for name in names]
    with transaction.atomic():
        moments = [lock_for_reading(collection.id, query.as_of) for query in queries]
        at = {_state(moment): moment for moment in moments}
        there = {state: _existing_rows(collection, moment, numbers) for state, moment in at.items()}
        seen = {state: moment for state, moment in at.items() if there[state]}
        lexical = {state: _lexical(collection, words, moment) for state, moment in seen.items()}
        semantic = {
            meaning.model: _semantic(collection, meaning, seen) for meaning in by_name.values() if seen
        }
    ranked: dict[tuple[_State, str, Query], dict[int, VersionRanks]] = {}
    for query, meaning, moment in zip(queries, meanings, moments, strict=True):
        state, model = _state(moment), meaning.model
        if (state, model, _without_time_and_model(query)) not in ranked:
            rankings = (
                {"lexical": lexical[state], "semantic": semantic[model][state]} if state in seen else {}
            )
            ranked[state, model, _without_time_and_model(query)] = _frames(
                there[state], rankings, query, meaning.semantic_weight
            )
    return [
        RankReport(
            as_of=moment.at,
            embedding_model=meaning.model,
            frames=ranked[_state(moment), meaning.model, _without_time_and_model(query)],
        )
        for query, meaning, moment in zip(queries, meanings, moments, strict=True)
    ]


def _state(moment: Moment) -> _State:
    return moment.at if moment.frame_count is None else None


def _without_time_and_model(query: Query) -> Query:
    """Return the query without its time and embedding model, which are known separately."""
    return replace(query, as_of=None, embedding_model=None)


def _existing_rows(collection: Collection, moment: Moment, numbers: Those[int]) -> _Rows:
    frames = frames_at(collection, moment.at).filter(number__in=numbers)
    return {row: (number, version) for row, number, version in frames.values_list("id", "number", "version")}


def _lexical(collection: Collection, words: str, moment: Moment) -> _Scores:
    _check_size(collection, moment)
    question = weighted_question(collection.id, words, moment.at, moment.frame_count)
    return ranking.lexical(collection.id, question, moment.at, MOST_RANKED)()


def _semantic(
    collection: Collection, meaning: QueryEmbedding, seen: Mapping[_State, Moment]
) -> dict[_State, _Scores]:
    """Return the complete semantic scores at each time; several times are read together."""
    if not meaning.vector:
        return {state: {} for state in seen}
    moments = [moment.at for moment in seen.values()]
    if len(moments) == 1:
        rankings = [ranking.semantic(collection.id, meaning.vector, meaning.model, moments[0], MOST_RANKED)()]
    else:
        rankings = ranking.semantic_at(collection.id, meaning.vector, meaning.model, moments)
    return dict(zip(seen, rankings, strict=True))


def _check_size(collection: Collection, moment: Moment) -> None:
    frames = frames_at(collection, moment.at).count() if moment.frame_count is None else moment.frame_count
    if frames > MOST_RANKED:
        raise TooLarge(
            f"The collection has {frames:,} frames; complete ranks are available up to {MOST_RANKED:,}.",
            code="too_many_to_rank",
        )


def _frames(
    there: _Rows, rankings: Mapping[str, _Scores], query: Query, weight: float
) -> dict[int, VersionRanks]:
    modes = {mode: _ranks_in_mode(mode, rankings, query, weight, there) for mode in MODES} if there else {}
    return {
        number: VersionRanks(
            frame=number, version=version, places={mode: places[row] for mode, places in modes.items()}
        )
        for row, (number, version) in there.items()
    }


def _ranks_in_mode(
    mode: str, rankings: Mapping[str, _Scores], query: Query, weight: float, rows: _Rows
) -> dict[int, FrameRank]:
    """Return the ranks of these rows in one mode: inside the window as a find orders it, or after it."""
    windows = {
        name: dict(islice(ranking.items(), search_depth(query.top_k))) for name, ranking in rankings.items()
    }
    score = _mode_scores(mode, windows, weight)
    order = best_first(score)
    ranked = Ranking(
        order=order,
        score=score,
        legs={name: ranking for name, ranking in windows.items() if mode in (name, "hybrid")},
    )
    adaptive = _rule(mode, query, POOL, adaptive=True)
    shown = _CutSizes(
        by_top_k=cut(ranked, _rule(mode, query, query.top_k, adaptive=False)).keep,
        by_adaptive=cut(ranked, adaptive).keep,
    )
    ranks = {row: (rank, score[row]) for rank, row in enumerate(order, 1)}
    if any(row not in ranks for row in rows):
        whole = _mode_scores(mode, rankings, weight)
        behind = [row for row in rows if row in whole and row not in ranks]
        ranks |= {row: (_rank_after_window(order, whole, row), whole[row]) for row in behind}
    of = (
        len(rankings["lexical"].keys() | rankings["semantic"].keys())
        if mode == "hybrid"
        else len(rankings[mode])
    )
    places = {row: _frame_rank(ranks.get(row), of, shown) for row in rows}
    return {row: _with_needs(place, ranked, adaptive) for row, place in places.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _CutSizes:
    """How many frames each cut keeps."""

    by_top_k: int
    by_adaptive: int


def _with_needs(place: FrameRank, ranked: Ranking, adaptive: CutRule) -> FrameRank:
    if place.rank is None or place.by_adaptive:
        return place
    return replace(place, needs=needed_settings(ranked, adaptive, place.rank))


def _mode_scores(mode: str, rankings: Mapping[str, _Scores], weight: float) -> _Scores:
    return fuse(rankings["lexical"], rankings["semantic"], weight) if mode == "hybrid" else rankings[mode]


def _rule(mode: str, query: Query, top_k: int, *, adaptive: bool) -> CutRule:
    return CutRule(
        mode=mode,
        top_k=top_k,
        adaptive=adaptive,
        min_score=query.min_score if mode == query.mode else None,
        relative=query.relative if adaptive else None,
        cliff=query.cliff if adaptive else None,
    )


def _rank_after_window(order: Sequence[int], whole: _Scores, row: int) -> int:
    """Return the rank of a row outside the window: after all rows inside, and after the others that `best_first`
    puts before it.
    """
    own = whole[row]
    better = sum(map(own.__lt__, whole.values()))
    alike = sum(1 for other, score in whole.items() if score == own and other < row)
    counted = sum(1 for other in order if whole[other] > own or (whole[other] == own and other < row))
    return len(order) + better + alike - counted + 1


def _frame_rank(ranked: tuple[int, float] | None, of: int, shown: _CutSizes) -> FrameRank:
    rank, score = ranked or (None, None)
    return FrameRank(
        rank=rank,
        of=of,
        score=score,
        by_top_k=rank is not None and rank <= shown.by_top_k,
        by_adaptive=rank is not None and rank <= shown.by_adaptive,
    )
