"""How fast actions are appended and a window of a long session is read.

Baselines in the same run: bare INSERTs of as many rows into a table without anything; the first window of the same session.
"""

import os
import statistics
import time
from collections.abc import Callable

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from timemachine.core.accounts.models import Project  # noqa: E402
from timemachine.recording.sessions.commands import append, start_session  # noqa: E402
from timemachine.recording.sessions.pure.draft import ActionDraft  # noqa: E402
from timemachine.recording.timeline.rows import window  # noqa: E402

BATCHES, SIZE, RUNS = 20, 1_000, 5


def main() -> None:
    call_command("migrate", verbosity=0, interactive=False)
    project = Project.objects.create(name="bench")
    session = start_session(project, name="long", by="bench")
    drafts = [ActionDraft(kind="message", role="user", output=f"turn {n}") for n in range(SIZE)]
    took = timed(lambda: [append(session.id, drafts) for _ in range(BATCHES)])
    bare = timed(bare_inserts)
    rate = BATCHES * SIZE / took
    print(
        f"append: {rate:,.0f} actions/s in batches of {SIZE}; baseline, bare rows: {BATCHES * SIZE / bare:,.0f}/s; ratio {took / bare:.1f}"
    )
    session.refresh_from_db()
    first = median(lambda: window(session, 1))
    last = median(lambda: window(session, session.last_sequence))
    print(
        f"window of 200 rows at the end of {session.last_sequence:,}: {last * 1000:.1f} ms; baseline, at the start: {first * 1000:.1f} ms; ratio {last / first:.2f}"
    )


def bare_inserts() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE bare (id bigserial PRIMARY KEY, said text)")
        for _ in range(BATCHES):
            cursor.executemany("INSERT INTO bare (said) VALUES (%s)", [(f"turn {n}",) for n in range(SIZE)])


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median(work: Callable[[], object]) -> float:
    return statistics.median(timed(work) for _ in range(RUNS))


if __name__ == "__main__":
    main()
