"""How soon an export begins and how long it takes, and what memory.

Baselines in the same run: one cursor of the server over the same rows, in a transaction that is held until the last one is sent; the file made whole
before its first byte is sent.
"""

import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from timemachine.core.accounts.models import Project  # noqa: E402
from timemachine.recording.importing.exporting import AT_ONCE, EXPORTS, exact, export_session  # noqa: E402
from timemachine.recording.importing.pure.exported import line_of  # noqa: E402
from timemachine.recording.sessions.commands import append, start_session  # noqa: E402
from timemachine.recording.sessions.models import Action, Session  # noqa: E402
from timemachine.recording.sessions.pure.draft import ActionDraft  # noqa: E402
from timemachine.recording.sessions.read_snapshot import snapshot  # noqa: E402
from timemachine.recording.timeline.document import with_everything  # noqa: E402

STEPS, SIZE, RUNS = 20_000, 1_000, 3


def main() -> None:
    call_command("migrate", verbosity=0, interactive=False)
    session = start_session(Project.objects.create(name="bench"), name="long", by="bench")
    for first in range(0, STEPS, SIZE):
        append(session.id, [drawn(number) for number in range(first, first + SIZE)])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    session.refresh_from_db()
    print(f"a session of {STEPS:,} steps; the first byte and the last, in seconds, median of {RUNS}")
    for name in EXPORTS:
        told(name, lambda name=name: export_session(session, name).parts)  # type: ignore[misc]
    told("baseline, timemachine by a cursor in a transaction", lambda: by_cursor(session))
    told(
        "baseline, timemachine whole before it is sent",
        lambda: iter([b"".join(export_session(session).parts)]),
    )
    print(
        f"memory at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MB, the last baseline included"
    )


def drawn(number: int) -> ActionDraft:
    return ActionDraft(
        kind="message", role="user", id=f"id-{number}", output=f"turn {number} " + "word " * 100
    )


def by_cursor(session: Session) -> Iterator[bytes]:
    with snapshot():
        every = Action.objects.filter(session=session).order_by("sequence")
        for action in with_everything(every).iterator(chunk_size=AT_ONCE):
            yield line_of(exact(action))


def told(name: str, parts: Callable[[], Iterator[bytes]]) -> None:
    first, last = zip(*(timed(parts) for _ in range(RUNS)), strict=True)
    print(f"{name}: {statistics.median(first):.3f} to {statistics.median(last):.2f}")


def timed(parts: Callable[[], Iterator[bytes]]) -> tuple[float, float]:
    began, first = time.perf_counter(), 0.0
    for _ in parts():
        first = first or time.perf_counter() - began
    return first, time.perf_counter() - began


if __name__ == "__main__":
    main()
