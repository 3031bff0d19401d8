"""How good a find is on the Cranfield collection, each mode beside `bm25s` in the same run, and how fast its frames are put.

`RETRIEVAL_DIR` names the folder with `cranfield_frames.jsonl` and `cranfield_queries_1_to_100.jsonl` (default: the folder
`../shared/retrieval`). `EMBEDDING_MODEL` chooses the embedding model. Relevance is binary; nDCG is by Järvelin and Kekäläinen
2002, its gain 1 / log2(rank + 1); MRR looks at the first 100; intervals are left to who has more queries.
"""

import json
import logging
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
django.setup()

import bm25s  # type: ignore[import-untyped]  # noqa: E402
from django.core.management import call_command  # noqa: E402

from timemachine.core.accounts.models import Project  # noqa: E402
from timemachine.knowledge import embedding_backlog  # noqa: E402
from timemachine.knowledge.commands import NewFrame, make_collection, put  # noqa: E402
from timemachine.knowledge.embedding import table  # noqa: E402
from timemachine.knowledge.find import MODES, Query, find  # noqa: E402
from timemachine.knowledge.models import Collection  # noqa: E402

FOLDER = Path(os.environ.get("RETRIEVAL_DIR", Path(__file__).parents[1] / ".." / "shared" / "retrieval"))
DEPTH, BATCH = 100, 200

type Ranking = Callable[[str], list[str]]


def main() -> None:
    if not (FOLDER / "cranfield_frames.jsonl").exists():
        sys.exit(f"No cranfield_frames.jsonl in {FOLDER}; RETRIEVAL_DIR names the folder that has it.")
    frames = lines(FOLDER / "cranfield_frames.jsonl")
    queries = lines(FOLDER / "cranfield_queries_1_to_100.jsonl")
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    call_command("migrate", verbosity=0, interactive=False)
    collection = filled(frames)
    print(f"{'':24}nDCG@10  recall@10  recall@100    MRR   found   p50 ms")
    baseline = measure("bm25s (lucene, 1.5, .75)", peer(frames), queries)
    for mode in ("lexical", "semantic", "hybrid"):
        assert mode in MODES
        quality = measure(f"{mode}", ours(collection, mode), queries)
        print(f"{'':24}{quality / baseline:7.2f} × the nDCG@10 of bm25s")


def filled(frames: Sequence[dict[str, Any]]) -> Collection:
    """The frames in a collection of their own; prints how long that took."""
    collection = make_collection(Project.objects.create(name="bench"), "cranfield", by="bench")
    new = [
        NewFrame(text=frame["text"] or frame["title"], title=frame["title"], uri=str(frame["id"]))
        for frame in frames
        if (frame["text"] or frame["title"]).strip()
    ]
    began = time.perf_counter()
    for first in range(0, len(new), BATCH):
        put(collection, new[first : first + BATCH], by="bench")
    took = time.perf_counter() - began
    print(
        f"put: {len(new):,} of {len(frames):,} frames with text in {took:.1f} s under {collection.embedding_model}"
    )
    embedded_by_a_worker(collection)
    collection.refresh_from_db()
    return collection


def embedded_by_a_worker(collection: Collection) -> None:
    """What a slow embedding model leaves behind a put; prints how long it takes."""
    began = time.perf_counter()
    if embedding_backlog.work_off(collection.id, seconds=math.inf):
        sys.exit("The vectors could not be made.")
    if table.named(collection.embedding_model).slow:
        print(f"embedded behind the put in {time.perf_counter() - began:.1f} s")


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


def measure(name: str, ranking: Ranking, queries: Sequence[dict[str, Any]]) -> float:
    """Print what a ranking comes to over all queries; returns its mean nDCG@10."""
    found, took = [], []
    for query in queries:
        began = time.perf_counter()
        found.append((ranking(str(query["text"])), relevant(query)))
        took.append(time.perf_counter() - began)
    ndcg = statistics.fmean(ndcg_at_10(*each) for each in found)
    answered = sum(1 for ranked, _ in found if ranked)
    figures = (
        ndcg,
        statistics.fmean(recall(*each, 10) for each in found),
        statistics.fmean(recall(*each, 100) for each in found),
        statistics.fmean(reciprocal_rank(*each) for each in found),
    )
    written = f"{figures[0]:7.4f}  {figures[1]:9.4f}  {figures[2]:10.4f}  {figures[3]:.3f}"
    print(f"{name:24}{written}  {answered:3}/{len(found)}  {statistics.median(took) * 1000:6.1f}")
    return ndcg


def ndcg_at_10(ranked: Sequence[str], wanted: set[str]) -> float:
    gain = sum(1 / math.log2(place + 2) for place, each in enumerate(ranked[:10]) if each in wanted)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(10, len(wanted))))


def recall(ranked: Sequence[str], wanted: set[str], depth: int) -> float:
    return len(wanted & set(ranked[:depth])) / len(wanted)


def reciprocal_rank(ranked: Sequence[str], wanted: set[str]) -> float:
    return next((1 / place for place, each in enumerate(ranked, 1) if each in wanted), 0.0)


def relevant(query: dict[str, Any]) -> set[str]:
    judged = query["relevant"]
    assert isinstance(judged, dict)
    return {frame for frame, value in judged.items() if value}


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()]


if __name__ == "__main__":
    main()
