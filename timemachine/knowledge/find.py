"""Find the frames of a collection that answer a query, now or at an earlier time."""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from timemachine.core import prepared_statements
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge import hnsw, ranking
from timemachine.knowledge.collection_time import Moment, moment_when_locked, request_read_lock
from timemachine.knowledge.cutting import CutRule, Ranking, best_first, cut, needed_settings
from timemachine.knowledge.hit_rows import HitRow, MatchedTerms, read_hit_rows
from timemachine.knowledge.models import Collection
from timemachine.knowledge.pure.cutoff import Curve, Thresholds, shown
from timemachine.knowledge.pure.fusion import fuse
from timemachine.knowledge.question import Question, request_terms, weighted_question
from timemachine.knowledge.vectors import QueryEmbedding, count_not_embedded, embed_query

DEFAULT_TOP_K = 8
LARGEST_TOP_K = 1_000
LONGEST_QUERY = 100_000
WINDOW = 100
MODES = ("hybrid", "semantic", "lexical")
EXACT, APPROXIMATE = "exact", "hnsw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for, and how.

    `as_of` None is now; `embedding_model` None is the collection's own. `min_score` applies to the score that
    ranks: BM25 or cosine, and in a hybrid find a number from 0 to 1 that is comparable only within its list
    (the fused score, or the strength if adaptive). `relative` and `cliff` are the thresholds of an adaptive
    find, shares from 0 to 1 (None: the defaults); `min_score` is its floor.
    """

    text: str
    mode: str = "hybrid"
    top_k: int = DEFAULT_TOP_K
    adaptive: bool = False
    min_score: float | None = None
    relative: float | None = None
    cliff: float | None = None
    as_of: datetime | None = None
    embedding_model: str | None = None

    @property
    def rule(self) -> CutRule:
        """Return how its ranking is cut."""
        return CutRule(
            mode=self.mode,
            top_k=self.top_k,
            adaptive=self.adaptive,
            min_score=self.min_score,
            relative=self.relative,
            cliff=self.cliff,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameHit:
    """One frame of the result: its rank from 1, its score in the mode, the raw score of each retriever, and what
    matched.

    `scores` has `lexical` (BM25), `semantic` (cosine), and `identifier`, the part of BM25 that exact
    identifiers added.
    """

    rank: int
    score: float
    scores: dict[str, float]
    matched: MatchedTerms
    stored_frame: int
    frame: int
    version: int
    title: str
    uri: str
    metadata: JsonObject
    sha256: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BelowCut:
    """The first frame below the cut, with the score that the rule looked at."""

    frame: int
    version: int
    title: str
    score: float

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that is stored with a find."""
        return {
            "frame": self.frame,
            "version": self.version,
            "title": self.title or None,
            "score": self.score,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FindResult:
    """The result of a find in the `collection` of that name: the frames, the rule that ended the list, the scores that it
    looked at, and the first frame left out.

    `below_needs` are the settings with which an adaptive cut would keep that frame too; None if none would.
    `semantic_search` is how the vectors were searched, `exact` or `hnsw`; None if they were not searched.
    `not_embedded` counts the frames without a vector, which the semantic search could not see.
    """

    collection: str
    query: Query
    as_of: datetime
    cut_by: str
    curve: Curve
    thresholds: Thresholds | None
    below: BelowCut | None
    below_needs: dict[str, float] | None
    embedding_model: str | None
    semantic_search: str | None
    not_embedded: int | None
    hits: tuple[FrameHit, ...]
    duration_ms: float


def check_query(query: Query) -> None:
    """Raise `InvalidInput` for an invalid query, before anything is looked up."""
    if not query.text.strip():
        raise InvalidInput(
            "The text is empty. Enter a query or a question.", code="invalid_field", field="query"
        )
    if len(query.text) > LONGEST_QUERY:
        raise InvalidInput(
            f"The text has {len(query.text):,} characters; the limit is {LONGEST_QUERY:,}.",
            code="invalid_field",
            field="query",
        )
    if query.mode not in MODES:
        raise InvalidInput(
            f"Invalid `mode` {query.mode!r}. Use one of {', '.join(MODES)}.",
            code="invalid_field",
            field="mode",
        )
    if not 1 <= query.top_k <= LARGEST_TOP_K:
        raise InvalidInput(
            f"`top_k` must be between 1 and {LARGEST_TOP_K:,}.", code="invalid_field", field="top_k"
        )
    _check_thresholds(query)
    if query.embedding_model and query.mode == "lexical":
        raise InvalidInput(
            "A lexical find uses no embedding model. Leave out `embedding_model` or choose another mode.",
            code="invalid_field",
            field="embedding_model",
        )


def _check_thresholds(query: Query) -> None:
    for name, share in (("relative", query.relative), ("cliff", query.cliff)):
        if share is None:
            continue
        if not query.adaptive:
            raise InvalidInput(
                f"`{name}` applies only to an adaptive find. Set `adaptive` or leave it out.",
                code="invalid_field",
                field=name,
            )
        if not 0 <= share <= 1:
            raise InvalidInput(f"`{name}` must be between 0 and 1.", code="invalid_field", field=name)


def find(collection: Collection, query: Query) -> FindResult:
    """Return the frames of the collection that answer the query.

    Raises `InvalidInput`; `Unavailable` and `ModelFailed` if its embedding model cannot be used.
    """
    check_query(query)
    began = time.perf_counter()
    words = searchable(query.text)
    meaning = None if query.mode == "lexical" else embed_query(collection, words, query.embedding_model)
    with prepared_statements.pipelined_transaction():
        holding = request_read_lock(collection.id)
        ahead = query.as_of is None and query.mode != "semantic"
        terms = request_terms(collection.id, words) if ahead else None
        if meaning is not None:
            _ = meaning.vector  # computed while the database works
        moment = moment_when_locked(holding, query.as_of)
        # sent before the terms are weighted, so that the database works in the meantime
        near = None if meaning is None else _semantic(collection, meaning, moment, search_depth(query.top_k))
        missing = None if meaning is None else count_not_embedded(collection, meaning.model, moment)
        question = Question(terms=(), frames=0)
        if query.mode != "semantic":
            question = weighted_question(collection.id, words, moment.at, moment.frame_count, terms)
        ranked = _rank(collection, query, question, near, moment)
        made = cut(ranked, query.rule)
        hits, below = _hits_and_below(ranked, made.curve)
        needs = needed_settings(ranked, query.rule, made.keep + 1) if query.adaptive else None
    return FindResult(
        collection=collection.name,
        query=query,
        as_of=moment.at,
        cut_by=made.cut_by,
        curve=made.curve,
        thresholds=made.thresholds,
        below=below,
        below_needs=needs,
        embedding_model=None if meaning is None else meaning.model,
        semantic_search=ranked.semantic_search,
        not_embedded=missing,
        hits=hits,
        duration_ms=(time.perf_counter() - began) * 1000,
    )


def search_depth(top_k: int) -> int:
    """Return how many frames of each retriever a find of `top_k` frames reads. The scores of a hybrid find are
    scaled by these.
    """
    return max(WINDOW, top_k + 1)


@dataclass(frozen=True, slots=True)
class _SemanticSearch:
    """The semantic scores, how they are searched (None: not at all), and their weight in a hybrid find."""

    scores: ranking.Scores
    searched: str | None
    weight: float


def _rank(
    collection: Collection, query: Query, question: Question, near: _SemanticSearch | None, moment: Moment
) -> Ranking:
    rankings: dict[str, dict[int, float]] = {}
    lexical = None
    if query.mode != "semantic":
        lexical = ranking.lexical(collection.id, question, moment.at, search_depth(query.top_k))
    if near is not None:
        rankings["semantic"] = near.scores()  # was sent first
    if lexical is not None:
        rankings["lexical"] = lexical()
    score = rankings.get(query.mode)
    if score is None:
        score = fuse(rankings["lexical"], rankings["semantic"], near.weight if near else 0)
    order = best_first(score)
    searched = near.searched if near else None
    return Ranking(order=order, score=score, legs=rankings, question=question, semantic_search=searched)


def _semantic(collection: Collection, meaning: QueryEmbedding, moment: Moment, depth: int) -> _SemanticSearch:
    """Return the semantic scores, from an index if it can serve the query and returns enough frames."""
    if not meaning.vector:
        return _SemanticSearch(dict, None, meaning.semantic_weight)
    arguments = (collection.id, meaning.vector, meaning.model, moment.at, depth)
    if hnsw.can_serve(collection.id, meaning.model, moment.frame_count or 0, depth):
        found = hnsw.nearest(*arguments)
        if len(found) >= depth:
            return _SemanticSearch(lambda: found, APPROXIMATE, meaning.semantic_weight)
    return _SemanticSearch(
        ranking.semantic(*arguments, sees_all=moment.sees_all), EXACT, meaning.semantic_weight
    )


def _hits_and_below(ranked: Ranking, curve: Curve) -> tuple[tuple[FrameHit, ...], BelowCut | None]:
    """Return the frames that are kept, and the first one that is not."""
    keep = curve.kept
    rows = ranked.order[: keep + 1]
    frames = read_hit_rows(rows, ranked.question)
    found = tuple(_hit(ranked, rank, row, frames[row]) for rank, row in enumerate(rows[:keep], 1))
    return found, _below(ranked, curve, rows[keep], frames[rows[keep]]) if len(rows) > keep else None


def _hit(ranked: Ranking, rank: int, row: int, frame: HitRow) -> FrameHit:
    scores_of = {name: ranking[row] for name, ranking in ranked.legs.items() if row in ranking}
    if frame.matched.identifiers:
        scores_of["identifier"] = round(sum(frame.matched.identifiers.values()), 4)
    return FrameHit(
        rank=rank,
        score=ranked.score[row],
        scores=scores_of,
        matched=frame.matched,
        stored_frame=row,
        frame=frame.number,
        version=frame.version,
        title=frame.title,
        uri=frame.uri,
        metadata=frame.metadata,
        sha256=frame.sha256,
        text=frame.text,
    )


def _below(ranked: Ranking, curve: Curve, row: int, frame: HitRow) -> BelowCut:
    drawn = curve.kept < len(curve.scores)
    score = shown(curve.scores[curve.kept]) if drawn else ranked.score[row]
    return BelowCut(frame=frame.number, version=frame.version, title=frame.title, score=score)
