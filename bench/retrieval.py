"""How good a find is on the Cranfield collection, each mode compared with `bm25s` in the same run, and how fast its frames are stored.

`EMBEDDING_MODEL` chooses the embedding model. Relevance is binary; nDCG is by Järvelin and Kekäläinen 2002, its gain 1 / log2(rank + 1);
MRR looks at the first 100; there are too few queries for intervals.
"""

import logging
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import bm25s  # type: ignore[import-untyped]

from bench.common import cranfield
from bench.common.django_ready import new_project
from bench.common.report import figure, finish
from bench.common.timing import quantile, seconds
from timemachine.knowledge import embedding_backlog
from timemachine.knowledge.commands import NewFrame, create_collection, put_frames
from timemachine.knowledge.embedding import table
from timemachine.knowledge.find import MODES, Query, find
from timemachine.knowledge.models import Collection

DEPTH, BATCH = 100, 200
LEAST = {("wordllama", "lexical"): 1.0, ("wordllama", "hybrid"): 1.0}
"""The minimum nDCG@10 of a find relative to that of `bm25s`, by embedding model and mode."""

type Ranking = Callable[[str], list[str]]


def main() -> None:
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    frames, queries = cranfield.frames(), cranfield.queries()
    collection = filled(frames)
    baseline = Quality.of(peer(frames), queries)
    for mode in ("lexical", "semantic", "hybrid"):
        assert mode in MODES
        found = Quality.of(ours(collection, mode), queries)
        least = LEAST.get((collection.embedding_model, mode))
        figure(f"nDCG@10, {mode}", found.ndcg, against=("bm25s", baseline.ndcg), ratio_least=least)
        figure(f"recall@10, {mode}", found.recall_10, against=("bm25s", baseline.recall_10))
        figure(f"recall@100, {mode}", found.recall_100, against=("bm25s", baseline.recall_100))
        figure(f"MRR, {mode}", found.mrr, against=("bm25s", baseline.mrr))
        figure(f"a find of {DEPTH}, {mode}", found.median_ms, "ms", against=("bm25s", baseline.median_ms))


def filled(frames: Sequence[dict[str, Any]]) -> Collection:
    """Return the frames in a collection of their own."""
    collection = create_collection(new_project(), "cranfield", by="bench")
    new = [
        NewFrame(text=frame["text"] or frame["title"], title=frame["title"], uri=str(frame["id"]))
        for frame in frames
        if (frame["text"] or frame["title"]).strip()
    ]
    batches = [new[first : first + BATCH] for first in range(0, len(new), BATCH)]
    took = seconds(lambda: [put_frames(collection, batch, by="bench") for batch in batches])
    figure(f"{len(new):,} frames put", took, "s")
    embedded_by_a_worker(collection)
    collection.refresh_from_db()
    return collection


def embedded_by_a_worker(collection: Collection) -> None:
    """Compute the vectors that a slow embedding model leaves to a worker after a put."""
    began = time.perf_counter()
    if embedding_backlog.embed_missing(collection.id, seconds=math.inf):
        sys.exit("The vectors could not be made.")
    if table.model_named(collection.embedding_model).slow:
        figure("embedded behind the put", time.perf_counter() - began, "s")


def ours(collection: Collection, mode: str) -> Ranking:
    def ranking(question: str) -> list[str]:
        return [hit.uri for hit in find(collection, Query(text=question, mode=mode, top_k=DEPTH)).hits]

    return ranking


def peer(frames: Sequence[dict[str, Any]]) -> Ranking:
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    texts = [f"{frame['title']} {frame['text']}" for frame in frames]
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def ranking(question: str) -> list[str]:
        words = bm25s.tokenize(question, stopwords="en", show_progress=False)
        found, _ = index.retrieve(words, k=DEPTH, show_progress=False)
        return [str(frames[place]["id"]) for place in found[0]]

    return ranking


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of a ranking over all queries, and the median time of one."""

    ndcg: float
    recall_10: float
    recall_100: float
    mrr: float
    median_ms: float

    @classmethod
    def of(cls, ranking: Ranking, queries: Sequence[dict[str, Any]]) -> Self:
        """Run all queries."""
        found, took = [], []
        for query in queries:
            began = time.perf_counter()
            found.append((ranking(str(query["text"])), relevant(query)))
            took.append((time.perf_counter() - began) * 1000)
        return cls(
            statistics.fmean(ndcg_at_10(*each) for each in found),
            statistics.fmean(recall(*each, 10) for each in found),
            statistics.fmean(recall(*each, 100) for each in found),
            statistics.fmean(reciprocal_rank(*each) for each in found),
            quantile(took, 0.5),
        )


def ndcg_at_10(ranked: Sequence[str], expected: set[str]) -> float:
    gain = sum(1 / math.log2(place + 2) for place, each in enumerate(ranked[:10]) if each in expected)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(10, len(expected))))


def recall(ranked: Sequence[str], expected: set[str], depth: int) -> float:
    return len(expected & set(ranked[:depth])) / len(expected)


def reciprocal_rank(ranked: Sequence[str], expected: set[str]) -> float:
    return next((1 / place for place, each in enumerate(ranked, 1) if each in expected), 0.0)


def relevant(query: dict[str, Any]) -> set[str]:
    judged = query["relevant"]
    assert isinstance(judged, dict)
    return {frame for frame, value in judged.items() if value}


if __name__ == "__main__":
    main()
    sys.exit(finish())
