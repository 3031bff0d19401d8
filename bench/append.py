"""How fast actions are appended and a window of a long session is read.

Baselines in the same run: bare INSERTs of as many rows into a table without indexes; the first window of the same session.
"""

import sys

from django.db import connection

from bench.common.django_ready import new_project
from bench.common.report import figure, finish
from bench.common.timing import median_ms, seconds
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.timeline.rows import window

BATCHES, SIZE, RUNS = 20, 1_000, 5


def main() -> None:
    session = start_session(new_project(), name="long", by="bench")
    drafts = [ActionDraft(kind="message", role="user", output=f"turn {n}") for n in range(SIZE)]
    took = seconds(lambda: [append(session.id, drafts) for _ in range(BATCHES)])
    rate, bare = (BATCHES * SIZE / each for each in (took, seconds(bare_inserts)))
    figure(f"actions appended in batches of {SIZE:,}", rate, "/s", against=("bare rows", bare))
    session.refresh_from_db()
    first = median_ms(lambda: window(session, 1), RUNS)
    last = median_ms(lambda: window(session, session.last_sequence), RUNS)
    figure(
        f"window at the end of {session.last_sequence:,} steps",
        last,
        "ms",
        against=("at the start", first),
        ratio_most=1.5,
    )


def bare_inserts() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE bare (id bigserial PRIMARY KEY, said text)")
        for _ in range(BATCHES):
            cursor.executemany("INSERT INTO bare (said) VALUES (%s)", [(f"turn {n}",) for n in range(SIZE)])


if __name__ == "__main__":
    main()
    sys.exit(finish())
