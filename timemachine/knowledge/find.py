"""Find: the frames of a collection that answer a query, as they are now or as they were."""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge import hnsw, prepared_statements, ranking
from timemachine.knowledge.collection_time import Moment, ask_to_hold, held
from timemachine.knowledge.cutting import CutRule, Ranked, best_first, cut
from timemachine.knowledge.hit_rows import Read, read
from timemachine.knowledge.match_reasons import Matched
from timemachine.knowledge.models import Collection
from timemachine.knowledge.pure.cutoff import Curve, Thresholds, shown
from timemachine.knowledge.pure.fusion import fuse
from timemachine.knowledge.query_vectors import Meaning, meaning_of, not_embedded
from timemachine.knowledge.question import Question, ask_for_terms, weighed

DEFAULT_TOP_K = 8
LARGEST_TOP_K = 1_000
LONGEST_QUERY = 100_000
WINDOW = 100
MODES = ("hybrid", "semantic", "lexical")
EXACT, APPROXIMATE = "exact", "hnsw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is looked for, and how.

    `as_of` None is now, `embedding_model` None the collection's own; `min_score` is on the score that ranks: BM25 or cosine, and
    in a hybrid find a number from 0 to 1 that means something only within its list (the fused score; in an adaptive one the strength).
    `relative` and `cliff` are the thresholds of an adaptive find, shares from 0 to 1 (None: the usual ones); `min_score` is its floor.
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
        """Where its ranking is to be cut."""
        return CutRule(
            mode=self.mode,
            top_k=self.top_k,
            adaptive=self.adaptive,
            min_score=self.min_score,
            relative=self.relative,
            cliff=self.cliff,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One frame that was found: its rank from 1, its score in the mode asked for, the raw score of each leg, and why.

    `scores` has `lexical` (BM25), `semantic` (cosine), and `identifier`, the part of BM25 that exact identifiers gave.
    """

    rank: int
    score: float
    scores: dict[str, float]
    matched: Matched
    stored_frame: int
    frame: int
    version: int
    title: str
    uri: str
    metadata: dict[str, Any]
    sha256: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """The frame that stands just below the cut, with the score that the rule looked at."""

    frame: int
    version: int
    title: str
    score: float

    def as_json(self) -> dict[str, Any]:
        """As it is kept with a find."""
        return {
            "frame": self.frame,
            "version": self.version,
            "title": self.title or None,
            "score": self.score,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a find came to: the frames, the rule that ended the list, the scores that it looked at, and what it left out first.

    `semantic_search` says how the vectors were searched, `exact` or `hnsw`; None where they were not.
    `not_embedded` counts the frames that the semantic leg could not see, as they have no vector.
    """

    query: Query
    as_of: datetime
    cut_by: str
    curve: Curve
    thresholds: Thresholds | None
    below: Below | None
    embedding_model: str | None
    semantic_search: str | None
    not_embedded: int | None
    hits: tuple[Found, ...]
    duration_ms: float


def check(query: Query) -> None:
    """Refuse a query that cannot be asked, before anything is looked up."""
    if not query.text.strip():
        raise InvalidInput(
            "The text is empty; write what to look for or ask.", code="invalid_field", field="query"
        )
    if len(query.text) > LONGEST_QUERY:
        raise InvalidInput(
            f"The text has {len(query.text):,} characters; a question may have {LONGEST_QUERY:,}.",
            code="invalid_field",
            field="query",
        )
    if query.mode not in MODES:
        raise InvalidInput(
            f"`mode` cannot be {query.mode!r}; it is one of {', '.join(MODES)}.",
            code="invalid_field",
            field="mode",
        )
    if not 1 <= query.top_k <= LARGEST_TOP_K:
        raise InvalidInput(
            f"`top_k` must lie between 1 and {LARGEST_TOP_K:,}.", code="invalid_field", field="top_k"
        )
    _check_thresholds(query)
    if query.embedding_model and query.mode == "lexical":
        raise InvalidInput(
            "A lexical find uses no embedding model; leave `embedding_model` out, or choose another mode.",
            code="invalid_field",
            field="embedding_model",
        )


def _check_thresholds(query: Query) -> None:
    for name, share in (("relative", query.relative), ("cliff", query.cliff)):
        if share is None:
            continue
        if not query.adaptive:
            raise InvalidInput(
                f"`{name}` is a threshold of an adaptive find; set `adaptive`, or leave it out.",
                code="invalid_field",
                field=name,
            )
        if not 0 <= share <= 1:
            raise InvalidInput(f"`{name}` must lie between 0 and 1.", code="invalid_field", field=name)


def find(collection: Collection, query: Query) -> Findings:
    """The frames of the collection that answer the query.

    Raises `InvalidInput`; `Unavailable` and `ModelFailed` where its embedding model cannot be used.
    """
    check(query)
    began = time.perf_counter()
    words = searchable(query.text)
    meaning = None if query.mode == "lexical" else meaning_of(collection, words, query.embedding_model)
    with prepared_statements.one_transaction():
        holding = ask_to_hold(collection.id)
        ahead = query.as_of is None and query.mode != "semantic"
        terms = ask_for_terms(collection.id, words) if ahead else None
        if meaning is not None:
            _ = meaning.vector  # made while the database is at work
        moment = held(holding, query.as_of)
        # asked for before the terms are weighed, so that the database has work meanwhile
        near = None if meaning is None else _semantic(collection, meaning, moment, depth(query.top_k))
        missing = None if meaning is None else not_embedded(collection, meaning.model, moment)
        question = Question(terms=(), frames=0)
        if query.mode != "semantic":
            question = weighed(collection.id, words, moment.at, moment.counted, terms)
        ranked = _rank(collection, query, question, near, moment)
        made = cut(ranked, query.rule)
        hits, below = _shown(ranked, made.curve)
    return Findings(
        query=query,
        as_of=moment.at,
        cut_by=made.cut_by,
        curve=made.curve,
        thresholds=made.thresholds,
        below=below,
        embedding_model=None if meaning is None else meaning.model,
        semantic_search=ranked.semantic_search,
        not_embedded=missing,
        hits=hits,
        duration_ms=(time.perf_counter() - began) * 1000,
    )


def depth(top_k: int) -> int:
    """How many frames of each leg a find of so many looks at: what it scales the scores of a hybrid find by."""
    return max(WINDOW, top_k + 1)


@dataclass(frozen=True, slots=True)
class _Near:
    """The semantic leg: its scores, how they are searched (None: not at all), and its weight beside the words."""

    scores: ranking.Scores
    searched: str | None
    weight: float


def _rank(
    collection: Collection, query: Query, question: Question, near: _Near | None, moment: Moment
) -> Ranked:
    legs: dict[str, dict[int, float]] = {}
    lexical = None
    if query.mode != "semantic":
        lexical = ranking.lexical(collection.id, question, moment.at, depth(query.top_k))
    if near is not None:
        legs["semantic"] = near.scores()  # was asked for first
    if lexical is not None:
        legs["lexical"] = lexical()
    score = legs.get(query.mode)
    if score is None:
        score = fuse(legs["lexical"], legs["semantic"], near.weight if near else 0)
    order = best_first(score)
    searched = near.searched if near else None
    return Ranked(order=order, score=score, legs=legs, question=question, semantic_search=searched)


def _semantic(collection: Collection, meaning: Meaning, moment: Moment, depth: int) -> _Near:
    """The semantic leg, by an index where that is right and gives as many as there are to give."""
    if not meaning.vector:
        return _Near(dict, None, meaning.weight)
    asked = (collection.id, meaning.vector, meaning.model, moment.at, depth)
    if hnsw.serves(collection.id, meaning.model, moment.counted or 0, depth):
        found = hnsw.nearest(*asked)
        if len(found) >= depth:
            return _Near(lambda: found, APPROXIMATE, meaning.weight)
    return _Near(ranking.semantic(*asked, sees_all=moment.sees_all), EXACT, meaning.weight)


def _shown(ranked: Ranked, curve: Curve) -> tuple[tuple[Found, ...], Below | None]:
    """The frames that stay, and the first one that does not."""
    keep = curve.kept
    rows = ranked.order[: keep + 1]
    frames = read(rows, ranked.question)
    found = tuple(_hit(ranked, rank, row, frames[row]) for rank, row in enumerate(rows[:keep], 1))
    return found, _below(ranked, curve, rows[keep], frames[rows[keep]]) if len(rows) > keep else None


def _hit(ranked: Ranked, rank: int, row: int, frame: Read) -> Found:
    legs = {name: leg[row] for name, leg in ranked.legs.items() if row in leg}
    if frame.matched.identifiers:
        legs["identifier"] = round(sum(frame.matched.identifiers.values()), 4)
    return Found(
        rank=rank,
        score=ranked.score[row],
        scores=legs,
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


def _below(ranked: Ranked, curve: Curve, row: int, frame: Read) -> Below:
    drawn = curve.kept < len(curve.scores)
    score = shown(curve.scores[curve.kept]) if drawn else ranked.score[row]
    return Below(frame=frame.number, version=frame.version, title=frame.title, score=score)
