"""How soon an export begins, how long it takes, and its memory.

Baseline in the same run: one server-side cursor over the same rows, in a transaction that is held until the last one is sent; and the file created completely
before its first byte is sent.
"""

import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator

from bench.common.django_ready import analyze, new_project
from bench.common.report import figure, finish
from timemachine.core.database import snapshot
from timemachine.recording.importing.exporting import AT_ONCE, EXPORTS, exact, export_session
from timemachine.recording.importing.pure.exports import line_of
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.timeline.schemas.actions import with_everything

STEPS, SIZE, RUNS = 20_000, 1_000, 3


def main() -> None:
    session = start_session(new_project(), name="long", by="bench")
    for first in range(0, STEPS, SIZE):
        append(session.id, [drawn(number) for number in range(first, first + SIZE)])
    analyze()
    session.refresh_from_db()
    took = {name: timed(lambda name=name: export_session(session, name).parts) for name in EXPORTS}  # type: ignore[misc]
    held = timed(lambda: by_cursor(session))
    whole = timed(lambda: iter([b"".join(export_session(session).parts)]))
    for name, (first_byte, last_byte) in took.items():
        figure(f"{STEPS:,} steps as {name}", last_byte, "s")
        figure(f"{STEPS:,} steps as {name}, first byte", first_byte, "s", most=0.5)
    soon, late = took["timemachine"]
    figure(
        "timemachine, to its end",
        late,
        "s",
        against=("by a cursor in one transaction", held[1]),
        ratio_most=2,
    )
    figure(
        "timemachine, first byte",
        soon,
        "s",
        against=("made whole before it is sent", whole[0]),
        ratio_most=0.1,
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figure("memory at most, with the whole file", memory, "MB")


def drawn(number: int) -> ActionDraft:
    return ActionDraft(
        kind="message", role="user", id=f"id-{number}", output=f"turn {number} " + "word " * 100
    )


def by_cursor(session: Session) -> Iterator[bytes]:
    with snapshot():
        every = Action.objects.filter(session=session).order_by("sequence")
        for action in with_everything(every).iterator(chunk_size=AT_ONCE):
            yield line_of(exact(action))


def timed(parts: Callable[[], Iterator[bytes]]) -> tuple[float, float]:
    """Return the seconds to the first byte and to the last, each the median of several runs."""
    first, last = zip(*(timed_once(parts) for _ in range(RUNS)), strict=True)
    return statistics.median(first), statistics.median(last)


def timed_once(parts: Callable[[], Iterator[bytes]]) -> tuple[float, float]:
    began, first = time.perf_counter(), 0.0
    for _ in parts():
        first = first or time.perf_counter() - began
    return first, time.perf_counter() - began


if __name__ == "__main__":
    main()
    sys.exit(finish())
