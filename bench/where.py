"""How long "Where is it?" and a sweep take over a session of 300 finds in a collection of 20,000 frames.

The finds are Cranfield's queries. Baseline in the same run: as many plain finds, with the same settings, as of the same moments.
"Where is it?" ranks a frame in all three modes at each find, once as of then and once as of now, so it is compared with two finds for each.
`FRAMES` and `FINDS` set other sizes.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice

from bench.common import cranfield
from bench.common.django_ready import analyze, new_project
from bench.common.report import figure, finish
from bench.common.timing import seconds
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import NewFrame, create_collection, put_frames
from timemachine.knowledge.find import Query, find
from timemachine.knowledge.models import Collection
from timemachine.recording.answering import commands as answering
from timemachine.recording.sessions.commands import end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.frame_ranks import rank_page
from timemachine.replay.runs.retrieval import moment_of
from timemachine.replay.sweeps.commands import launch
from timemachine.replay.sweeps.pure.grid import Grid
from timemachine.replay.sweeps.worker import work

FRAMES = int(os.environ.get("FRAMES", "20000"))
FINDS = int(os.environ.get("FINDS", "300"))
BATCH, LOOKED_FOR = 2_000, 7
GRID = Grid(modes=("hybrid", "lexical"), top_k=(4, 16), adaptive=(False, True))


def main() -> None:
    """Record the session and measure both."""
    project = new_project()
    collection = filled(project)
    session = recorded(project, collection)
    analyze("VACUUM ANALYZE")
    queries = plain_queries(session)
    measure_where(collection, session, queries)
    measure_sweep(collection, session, queries)


def measure_where(collection: Collection, session: Session, queries: Sequence[Query]) -> None:
    """Measure where a frame is ranked at every step, page by page as a person reads it, compared with two plain finds for each."""
    first = seconds(lambda: rank_page(session, frame=LOOKED_FOR))
    took = seconds(lambda: everywhere(session))
    both = [*queries, *(replace(each, as_of=None) for each in queries)]
    plain = (f"{len(both):,} plain finds", seconds(lambda: find_all(collection, both)))
    figure("where is it, the first page of steps", first * 1000, "ms")
    figure(f"where is it, all {len(queries):,} steps", took, "s", against=plain)


def measure_sweep(collection: Collection, session: Session, queries: Sequence[Query]) -> None:
    """Measure a sweep, compared with a plain find for each setting and step."""
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
    plain = (f"{len(same):,} plain finds", seconds(lambda: find_all(collection, same)))
    figure(f"a sweep of {len(settings)} settings", took, "s", against=plain)


def everywhere(session: Session) -> int:
    """Read every page of where a frame is ranked; return how many steps there were."""
    steps, after = 0, 0
    while True:
        found = rank_page(session, frame=LOOKED_FOR, after=after)
        steps += len(found.items)
        if found.next is None:
            return steps
        after = found.next


def find_all(collection: Collection, queries: Sequence[Query]) -> None:
    """Run the finds, one after another."""
    for query in queries:
        find(collection, query)


def plain_queries(session: Session) -> list[Query]:
    """Return the session's finds as plain queries, as of their moments."""
    actions = (
        session.actions.filter(kind="find")
        .select_related("session__collection", "input")
        .order_by("sequence")
    )
    return [
        Query(text=text, as_of=moment_of(action))
        for action, text in zip(actions, islice(cycle(cranfield.questions()), FINDS), strict=True)
    ]


def recorded(project: Project, collection: Collection) -> Session:
    """Return a session of `FINDS` finds, half of them before the last frames came."""
    session = start_session(project, name="bench", by="bench", collection=collection)
    for number, question in enumerate(islice(cycle(cranfield.questions()), FINDS)):
        if number == FINDS // 2:
            put_frames(
                collection, [NewFrame(text="One more passage, put while the session ran.")], by="bench"
            )
        answering.find(collection, Query(text=question), session=session)
    return end_session(session.id)


def filled(project: Project) -> Collection:
    """Return a collection of `FRAMES` frames."""
    collection = create_collection(project, "all", by="bench")
    texts = cranfield.varied()
    new = (NewFrame(text=text, title=title, uri=str(n)) for n, (title, text) in enumerate(texts))
    for first in range(0, FRAMES, BATCH):
        put_frames(collection, list(islice(new, min(BATCH, FRAMES - first))), by="bench")
    collection.refresh_from_db()
    return collection


if __name__ == "__main__":
    main()
    sys.exit(finish())
