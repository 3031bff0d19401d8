"""How fast a find is among 100,000 frames, and in a small collection in the same database; how accurate the approximate search is.

Baselines in the same run: the lexical search alone for hybrid and semantic; the exact semantic search for the approximate
one. Each question is asked in one mode after another, so that a slower machine slows all of them.
Every question is asked `TIMES` times: the median and p95 are over all of these; "undisturbed" is the p95 over the questions' fastest
ones, which distinguishes a slow find from a busy machine. `FRAMES` sets another size.
"""

import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import transaction

from bench.common import cranfield
from bench.common.django_ready import analyze, new_project
from bench.common.report import figure, finish
from bench.common.timing import quantile, seconds
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.knowledge import hnsw, ranking
from timemachine.knowledge.commands import NewFrame, create_collection, put_frames
from timemachine.knowledge.embedding import wordllama
from timemachine.knowledge.find import Query, find
from timemachine.knowledge.models import Collection

FRAMES = int(os.environ.get("FRAMES", "100000"))
BATCH, TOP, WARM_UP, TIMES = 2_000, 10, 5, 3
MODES = ("lexical", "semantic", "hybrid")
RATIOS = {"hybrid": 6.0}


def main() -> None:
    questions = cranfield.questions()
    project, texts = new_project(), cranfield.varied()
    large = filled(project, "all rows", texts, FRAMES)
    small = filled(project, "one in a hundred", texts, FRAMES // 100)
    built = seconds(lambda: hnsw.build(large.id, large.embedding_model))
    figure(f"index of {FRAMES:,} vectors built", built, "s")
    analyze("VACUUM ANALYZE")
    for collection in (large, small):
        measure(collection, questions)
        measure_the_past(collection, questions)
    figure(f"semantic recall@{TOP}, of what the exact search finds", recall(large, questions), least=0.97)


def measure(collection: Collection, questions: Sequence[str]) -> None:
    """Measure the times of each mode, with the lexical one as the baseline."""
    for question in questions[:WARM_UP]:
        for mode in MODES:
            timed(collection, question, mode)
    rounds = [
        [[timed(collection, question, mode) for mode in MODES] for question in questions]
        for _ in range(TIMES)
    ]
    medians: dict[str, float] = {}
    for place, mode in enumerate(MODES):
        of_mode = [[took[place] for took in each] for each in rounds]
        against = ("lexical", medians["lexical"]) if medians else None
        name = f"{mode} in {collection.frame_count:,}"
        medians[mode] = report_times(name, of_mode, against, RATIOS.get(mode))


def measure_the_past(collection: Collection, questions: Sequence[str]) -> None:
    """Measure a hybrid find as of a moment before a later frame, so that no stored counts can be used."""
    frames, as_of = collection.frame_count, now()
    put_frames(collection, [NewFrame(text=f"One more passage, put at {as_of}.")], by="bench")
    rounds = [[timed(collection, question, "hybrid", as_of) for question in questions] for _ in range(TIMES)]
    report_times(f"hybrid in {frames:,}, as of before", rounds)


def report_times(
    name: str,
    rounds: Sequence[Sequence[float]],
    against: tuple[str, float] | None = None,
    ratio_most: float | None = None,
) -> float:
    """Report the figures of several rounds over the same questions and return the median."""
    every = [took * 1000 for each in rounds for took in each]
    fastest = [min(took) * 1000 for took in zip(*rounds, strict=True)]
    median = quantile(every, 0.5)
    figure(name, median, "ms", against=against, ratio_most=ratio_most)
    figure(f"{name}, p95", quantile(every, 0.95), "ms")
    figure(f"{name}, p95 undisturbed", quantile(fastest, 0.95), "ms", most=60)
    return median


def timed(collection: Collection, question: str, mode: str, as_of: datetime | None = None) -> float:
    began = time.perf_counter()
    find(collection, Query(text=question, mode=mode, top_k=TOP, as_of=as_of))
    return time.perf_counter() - began


def recall(collection: Collection, questions: Sequence[str]) -> float:
    """Return the share of the exact first ten that the index finds, over all questions."""
    shares = []
    for vector in wordllama.embed(list(questions)):
        asked = (collection.id, vector.tolist(), collection.embedding_model, now(), hnsw.DEPTH)
        with transaction.atomic():
            near = list(hnsw.nearest(*asked))[:TOP]
        exact = list(ranking.semantic(*asked)())[:TOP]
        shares.append(len(set(near) & set(exact)) / len(exact))
    return statistics.fmean(shares)


def filled(project: Project, name: str, texts: Iterator[tuple[str, str]], size: int) -> Collection:
    """Return a collection of this many frames."""
    collection = create_collection(project, name, by="bench")
    for first in range(0, size, BATCH):
        numbered = zip(range(first, min(first + BATCH, size)), texts, strict=False)
        put_frames(
            collection,
            [NewFrame(title=title, text=text, uri=str(n)) for n, (title, text) in numbered],
            by="bench",
        )
    collection.refresh_from_db()
    return collection


if __name__ == "__main__":
    main()
    sys.exit(finish())
