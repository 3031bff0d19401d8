"""How fast a find is among 100,000 frames, and inside a small collection beside them; how right the approximate search is.

Frames are the Cranfield abstracts over and over, a quarter of their words exchanged for others of the collection (seeded).
Baselines in the same run: hybrid against its lexical leg; the approximate semantic search against the exact one. Each question is
asked in one mode after the other, so that a machine that slows down slows all of them.
Every question is asked `TIMES` times: p50 and p95 are over all of these, "undisturbed" is the p95 over the questions' fastest
ones, which tells a slow find from a machine that had other things to do.
`FRAMES` sets another size, `RETRIEVAL_DIR` the folder with `cranfield_frames.jsonl` and its queries.
"""

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from timemachine.core.accounts.models import Project  # noqa: E402
from timemachine.core.pure.clock import now  # noqa: E402
from timemachine.knowledge import hnsw, ranking  # noqa: E402
from timemachine.knowledge.commands import NewFrame, make_collection, put  # noqa: E402
from timemachine.knowledge.embedding import wordllama  # noqa: E402
from timemachine.knowledge.find import Query, find  # noqa: E402
from timemachine.knowledge.models import Collection  # noqa: E402

FOLDER = Path(os.environ.get("RETRIEVAL_DIR", Path(__file__).parents[1] / ".." / "shared" / "retrieval"))
FRAMES = int(os.environ.get("FRAMES", "100000"))
BATCH, TOP, WARM_UP, TIMES = 2_000, 10, 5, 3
MODES = ("lexical", "semantic", "hybrid")
EXCHANGED = 0.25


def main() -> None:
    if not (FOLDER / "cranfield_frames.jsonl").exists():
        sys.exit(f"No cranfield_frames.jsonl in {FOLDER}; RETRIEVAL_DIR names the folder that has it.")
    call_command("migrate", verbosity=0, interactive=False)
    project = Project.objects.create(name="bench")
    questions = [line["text"] for line in lines("cranfield_queries_1_to_100.jsonl")]
    texts = varied()
    large = filled(project, "all rows", texts, FRAMES)
    small = filled(project, "one in a hundred", texts, FRAMES // 100)
    began = time.perf_counter()
    hnsw.build(large.id, large.embedding_model)
    print(f"index of {FRAMES:,} vectors built in {time.perf_counter() - began:.0f} s")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    for collection in (large, small):
        measure(collection, questions)
        measure_the_past(collection, questions)
    print(f"semantic recall@{TOP} against exact: {recall(large, questions):.3f}")


def measure(collection: Collection, questions: Sequence[str]) -> None:
    """Print the times of each mode, and hybrid against its lexical leg."""
    for question in questions[:WARM_UP]:
        for mode in MODES:
            timed(collection, question, mode)
    rounds = [
        [[timed(collection, question, mode) for mode in MODES] for question in questions]
        for _ in range(TIMES)
    ]
    medians = {}
    for place, mode in enumerate(MODES):
        of_mode = [[took[place] for took in each] for each in rounds]
        medians[mode] = told(f"{collection.frame_count:7,} frames  {mode:9}", collection, of_mode)
    print(f"{'':17} hybrid is {medians['hybrid'] / medians['lexical']:.2f} × its lexical leg (p50)")


def measure_the_past(collection: Collection, questions: Sequence[str]) -> None:
    """Print the times of a hybrid find as of a moment since which a frame came, so that nothing is counted beforehand."""
    then = now()
    put(collection, [NewFrame(text=f"One more passage, put at {then}.")], by="bench")
    rounds = [[timed(collection, question, "hybrid", then) for question in questions] for _ in range(TIMES)]
    told(f"{'as of before':>14}  {'hybrid':9}", collection, rounds)


def told(what: str, collection: Collection, rounds: Sequence[Sequence[float]]) -> float:
    """Print the quantiles of some rounds over the same questions, in milliseconds; the median comes back."""
    every = sorted(took * 1000 for each in rounds for took in each)
    fastest = sorted(min(took) * 1000 for took in zip(*rounds, strict=True))
    p50, p95, undisturbed = quantile(every, 0.5), quantile(every, 0.95), quantile(fastest, 0.95)
    print(
        f"{collection.name:17} {what} p50 {p50:6.1f} ms  p95 {p95:6.1f} ms  undisturbed {undisturbed:6.1f} ms"
    )
    return p50


def timed(collection: Collection, question: str, mode: str, as_of: datetime | None = None) -> float:
    began = time.perf_counter()
    find(collection, Query(text=question, mode=mode, top_k=TOP, as_of=as_of))
    return time.perf_counter() - began


def recall(collection: Collection, questions: Sequence[str]) -> float:
    """The share of the exact first ten that the index finds, over all questions."""
    shares = []
    for vector in wordllama.embed(list(questions)):
        asked = (collection.id, vector.tolist(), collection.embedding_model, now(), hnsw.DEPTH)
        with transaction.atomic():
            near = list(hnsw.nearest(*asked))[:TOP]
        exact = list(ranking.semantic(*asked)())[:TOP]
        shares.append(len(set(near) & set(exact)) / len(exact))
    return statistics.fmean(shares)


def filled(project: Project, name: str, texts: Iterator[NewFrame], size: int) -> Collection:
    """A collection of so many frames."""
    collection = make_collection(project, name, by="bench")
    for first in range(0, size, BATCH):
        put(collection, [next(texts) for _ in range(min(BATCH, size - first))], by="bench")
    collection.refresh_from_db()
    return collection


def varied() -> Iterator[NewFrame]:
    """Ever more passages, each an abstract with other words in places; the same ones in every run."""
    chance = random.Random(7)
    abstracts = [line for line in lines("cranfield_frames.jsonl") if line["text"].strip()]
    words = [word for line in abstracts for word in line["text"].split()]
    number = 0
    while True:
        for line in abstracts:
            text = (
                chance.choice(words) if chance.random() < EXCHANGED else word for word in line["text"].split()
            )
            yield NewFrame(text=" ".join(text), title=line["title"], uri=str(number))
            number += 1


def quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def lines(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines() if line.strip()]


if __name__ == "__main__":
    main()
