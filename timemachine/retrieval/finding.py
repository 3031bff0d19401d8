"""Find: the frames of a collection that answer a query, as they are now or as they were."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from timemachine.base.clock import now
from timemachine.base.errors import InvalidInput
from timemachine.base.faithful import searchable
from timemachine.payloads.queries import text
from timemachine.retrieval import cutoff, embedding, ranking
from timemachine.retrieval.cutoff import Cut
from timemachine.retrieval.fusion import fuse
from timemachine.retrieval.models import Collection, Frame

DEFAULT_TOP_K = 8
LARGEST_TOP_K = 1_000
WINDOW = 100
MODES = ("hybrid", "semantic", "lexical")
COSINE_FLOOR = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is looked for, and how. `as_of` None is now; `min_score` is on the raw score of the leg that ranks."""

    text: str
    mode: str = "hybrid"
    top_k: int = DEFAULT_TOP_K
    adaptive: bool = False
    min_score: float | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One frame that was found: its rank from 1, its score in the mode asked for, and the raw score of each leg."""

    rank: int
    score: float
    scores: dict[str, float]
    stored_frame: int
    frame: int
    version: int
    title: str
    uri: str
    metadata: dict[str, Any]
    sha256: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a find came to: the frames, and the rule that ended the list."""

    query: Query
    as_of: datetime
    cut_by: str
    embedding_model: str | None
    hits: tuple[Found, ...]
    duration_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked:
    """Scores by frame row: of the mode, and raw by leg; best first."""

    order: list[int]
    score: dict[int, float]
    legs: dict[str, dict[int, float]]


def check(query: Query) -> None:
    """Refuse a query that cannot be asked, before anything is looked up."""
    if not query.text.strip():
        raise InvalidInput(
            "The text is empty; write what to look for or ask.", code="invalid_field", field="query"
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


def find(collection: Collection, query: Query) -> Findings:
    """The frames of the collection that answer the query. Raises `InvalidInput`."""
    check(query)
    began = time.perf_counter()
    at = query.as_of or _moment(collection)
    ranked = _rank(collection, query, at)
    cut = _cut(ranked, query)
    hits = _found(ranked, ranked.order[: cut.keep])
    return Findings(
        query=query,
        as_of=at,
        cut_by=cut.cut_by,
        embedding_model=collection.embedding_model if query.mode != "lexical" else None,
        hits=hits,
        duration_ms=(time.perf_counter() - began) * 1000,
    )


@transaction.atomic
def _moment(collection: Collection) -> datetime:
    """Now, at a moment when no put is under way: what was put until then is all committed, and nothing can still be
    stamped with an earlier time. So the same find "as of" that moment always sees the same frames.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM tm_collection WHERE id = %s FOR SHARE", [collection.id])
    return now()


def _rank(collection: Collection, query: Query, at: datetime) -> _Ranked:
    depth = max(WINDOW, query.top_k + 1)
    legs: dict[str, dict[int, float]] = {}
    words = searchable(query.text)
    if query.mode != "semantic":
        legs["lexical"] = ranking.lexical(collection.id, words, at, depth)
    if query.mode != "lexical":
        legs["semantic"] = _semantic(collection, words, at, depth)
    score = legs.get(query.mode)
    if score is None:
        score = fuse(legs["lexical"], legs["semantic"])
    order = sorted(score, key=lambda row: (-score[row], row))
    return _Ranked(order=order, score=score, legs=legs)


def _semantic(collection: Collection, words: str, at: datetime, depth: int) -> dict[int, float]:
    vector = embedding.embed([words])[0]
    if not vector.any():
        return {}
    return ranking.semantic(collection.id, vector.tolist(), collection.embedding_model, at, depth)


def _cut(ranked: _Ranked, query: Query) -> Cut:
    if not query.adaptive:
        scores = [ranked.score[row] for row in ranked.order]
        if query.min_score is None:
            return cutoff.cut_at(len(scores), query.top_k)
        enough = sum(1 for score in scores if score >= query.min_score)
        cut = cutoff.cut_at(enough, query.top_k)
        return cut if cut.cut_by == "top_k" or enough == len(scores) else Cut(keep=cut.keep, cut_by="floor")
    raw, floor = _raw(ranked, query)
    return cutoff.cut_adaptively(raw, query.top_k, floor)


def _raw(ranked: _Ranked, query: Query) -> tuple[Sequence[float], float]:
    """The raw scores that the adaptive rules look at, in the ranking's order, and the floor on their scale."""
    lexical = ranked.legs.get("lexical") or {}
    if lexical:
        return [lexical.get(row, 0.0) for row in ranked.order], query.min_score or 0.0
    semantic = ranked.legs.get("semantic") or {}
    floor = COSINE_FLOOR if query.min_score is None else query.min_score
    return [semantic.get(row, 0.0) for row in ranked.order], floor


def _found(ranked: _Ranked, rows: list[int]) -> tuple[Found, ...]:
    frames = {frame.id: frame for frame in Frame.objects.filter(id__in=rows).select_related("payload")}
    return tuple(_hit(ranked, rank, frames[row]) for rank, row in enumerate(rows, 1))


def _hit(ranked: _Ranked, rank: int, frame: Frame) -> Found:
    legs = {name: leg[frame.id] for name, leg in ranked.legs.items() if frame.id in leg}
    return Found(
        rank=rank,
        score=ranked.score[frame.id],
        scores=legs,
        stored_frame=frame.id,
        frame=frame.number,
        version=frame.version,
        title=frame.title,
        uri=frame.uri,
        metadata=frame.metadata,
        sha256=frame.sha256,
        text=text(frame.payload),
    )
