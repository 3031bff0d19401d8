"""How long "Where is it?" and a sweep take over a session of 300 finds in a collection of 20,000 frames.

Frames are the Cranfield abstracts over and over, a quarter of their words exchanged for others of the collection (seeded); the finds
are Cranfield's queries. Baselines in the same run: as many plain finds, with the same settings, as of the same moments. "Where is it?"
ranks a frame in all three modes at each find, once as of then and once as of now, so its baseline is two finds for each.
`FRAMES` and `FINDS` set other sizes, `RETRIEVAL_DIR` the folder with `cranfield_frames.jsonl` and its queries.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from timemachine.core.accounts.models import Project  # noqa: E402
from timemachine.knowledge.commands import NewFrame, make_collection, put  # noqa: E402
from timemachine.knowledge.find import Query, find  # noqa: E402
from timemachine.knowledge.models import Collection  # noqa: E402
from timemachine.recording.answering import commands as answering  # noqa: E402
from timemachine.recording.sessions.commands import end_session, start_session  # noqa: E402
from timemachine.recording.sessions.models import Session  # noqa: E402
from timemachine.replay.runs.frame_ranks import where  # noqa: E402
from timemachine.replay.runs.retrieval import moment_of  # noqa: E402
from timemachine.replay.sweeps.commands import launch  # noqa: E402
from timemachine.replay.sweeps.pure.grid import Grid  # noqa: E402
from timemachine.replay.sweeps.worker import work  # noqa: E402

FOLDER = Path(os.environ.get("RETRIEVAL_DIR", Path(__file__).parents[1] / ".." / "shared" / "retrieval"))
FRAMES = int(os.environ.get("FRAMES", "20000"))
FINDS = int(os.environ.get("FINDS", "300"))
BATCH, EXCHANGED, LOOKED_FOR = 2_000, 0.25, 7
GRID = Grid(modes=("hybrid", "lexical"), top_k=(4, 16), adaptive=(False, True))


def main() -> None:
    """Record the session, measure both, and print."""
    if not (FOLDER / "cranfield_frames.jsonl").exists():
        sys.exit(f"No cranfield_frames.jsonl in {FOLDER}; RETRIEVAL_DIR names the folder that has it.")
    call_command("migrate", verbosity=0, interactive=False)
    project = Project.objects.create(name="bench")
    collection = filled(project)
    session = recorded(project, collection)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    queries = asked(session)
    print(f"{len(queries):,} finds recorded in a collection of {collection.frame_count:,} frames")
    measure_where(collection, session, queries)
    measure_sweep(collection, session, queries)


def measure_where(collection: Collection, session: Session, queries: Sequence[Query]) -> None:
    """Where a frame stands at every step, page by page as a person reads it, beside two plain finds for each."""
    first = seconds(lambda: where(session, frame=LOOKED_FOR))
    took = seconds(lambda: everywhere(session))
    plain = seconds(
        lambda: find_all(collection, [*queries, *(replace(each, as_of=None) for each in queries)])
    )
    print(f"where is it, first page of steps {first * 1000:8.0f} ms")
    tell("where is it, all steps", took, 2 * len(queries), plain)


def measure_sweep(collection: Collection, session: Session, queries: Sequence[Query]) -> None:
    """A sweep beside a plain find for each setting and step."""
    sweep = launch(session, GRID, by="bench")
    settings = [row.setting for row in sweep.rows.order_by("number")]
    took = seconds(lambda: work(sweep.id))
    if set(sweep.rows.values_list("status", flat=True)) != {"done"}:
        sys.exit("Not every setting was measured.")
    same = [
        replace(each, mode=chosen["mode"], top_k=chosen["top_k"], adaptive=chosen["adaptive"])
        for chosen in settings
        for each in queries
    ]
    tell(f"a sweep of {len(settings)} settings", took, len(same), seconds(lambda: find_all(collection, same)))


def tell(what: str, took: float, finds: int, plain: float) -> None:
    """Print a line."""
    print(
        f"{what:32} {took:6.1f} s   baseline, {finds:,} plain finds: {plain:.1f} s"
        f" ({plain / finds * 1000:.1f} ms each)   {took / plain:.2f} × the baseline"
    )


def everywhere(session: Session) -> int:
    """Every page of where a frame stands; how many steps there were."""
    steps, after = 0, 0
    while True:
        found = where(session, frame=LOOKED_FOR, after=after)
        steps += len(found.steps)
        if found.next is None:
            return steps
        after = found.next


def find_all(collection: Collection, queries: Sequence[Query]) -> None:
    """The finds, one after the other."""
    for query in queries:
        find(collection, query)


def seconds(run: Callable[[], object]) -> float:
    """How long it takes, once."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def asked(session: Session) -> list[Query]:
    """The session's finds as plain queries, as of their moments."""
    actions = (
        session.actions.filter(kind="find")
        .select_related("session__collection", "input")
        .order_by("sequence")
    )
    return [
        Query(text=text, as_of=moment_of(action))
        for action, text in zip(actions, islice(cycle(questions()), FINDS), strict=True)
    ]


def recorded(project: Project, collection: Collection) -> Session:
    """A session of `FINDS` finds, half of them before the last frames came."""
    session = start_session(project, name="bench", by="bench", collection=collection)
    for number, question in enumerate(islice(cycle(questions()), FINDS)):
        if number == FINDS // 2:
            put(collection, [NewFrame(text="One more passage, put while the session ran.")], by="bench")
        answering.find(collection, Query(text=question), session=session)
    return end_session(session.id)


def filled(project: Project) -> Collection:
    """A collection of `FRAMES` frames."""
    collection = make_collection(project, "all", by="bench")
    texts = varied()
    for first in range(0, FRAMES, BATCH):
        put(collection, list(islice(texts, min(BATCH, FRAMES - first))), by="bench")
    collection.refresh_from_db()
    return collection


def varied() -> Iterator[NewFrame]:
    """Ever more passages, each an abstract with other words in places; the same ones in every run."""
    chance = random.Random(7)
    abstracts = [line for line in lines("cranfield_frames.jsonl") if line["text"].strip()]
    words = [word for line in abstracts for word in line["text"].split()]
    for number, line in enumerate(cycle(abstracts)):
        text = (
            chance.choice(words) if chance.random() < EXCHANGED else word for word in line["text"].split()
        )
        yield NewFrame(text=" ".join(text), title=line["title"], uri=str(number))


def questions() -> list[str]:
    """Cranfield's queries."""
    return [line["text"] for line in lines("cranfield_queries_1_to_100.jsonl")]


def lines(name: str) -> list[dict[str, str]]:
    """The objects of a file."""
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines() if line.strip()]


if __name__ == "__main__":
    main()
