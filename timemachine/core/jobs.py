"""Jobs: what workers do outside a request. A domain declares its jobs in its `tasks.py`, without knowing the queue.

    @job(overdue=commands.overdue, at_start=True)
    def run_import(import_id: UUID) -> None:
        worker.work(import_id)

That is all it takes: `timemachine.jobs` finds every `tasks.py`, has workers run the jobs that a message names, and enqueues what is
overdue. A message holds the name of the job and an id. It may be lost or come twice, so a job must be safe to run at any time.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from inspect import signature
from typing import Any, Final

from django.db.models import QuerySet

type Next = Iterable[tuple["Job", Any]]
"""Jobs, each with an id, that are to be enqueued after this one."""
type Overdue = Callable[[], QuerySet[Any, Any] | Iterable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A declared job. Calling it runs it here and now, without the queue, and returns what is to be enqueued next."""

    name: str
    function: Callable[..., Next | None]
    overdue: Overdue | None
    key: str
    at_start: bool
    only_if: Callable[[Any], bool] | None
    pause: float
    every: timedelta | None

    def __call__(self, *ids: Any) -> list[tuple["Job", Any]]:
        """Run the job for an id, which may be text as in a message; a periodic job takes none."""
        kinds = [each.annotation for each in signature(self.function).parameters.values()]
        given = [kind(str(each)) for kind, each in zip(kinds, ids, strict=True)]
        return list(self.function(*given) or ())


JOBS: Final[dict[str, Job]] = {}
"""Every job by its name."""


def job(
    *,
    overdue: Overdue | None = None,
    key: str = "pk",
    at_start: bool = False,
    only_if: Callable[[Any], bool] | None = None,
    pause: float = 0,
    every: timedelta | None = None,
) -> Callable[[Callable[..., Next | None]], Job]:
    """Declare a function as a job. It takes one id (its annotation says of which type) and may return what is to be enqueued next.

    Args:
        overdue: What the periodic sweep enqueues: rows of a table that is `Enqueued` with work to do, which are marked and not enqueued
            again for a while, or plain ids, which are enqueued at every sweep.
        key: The field of these rows that the job takes.
        at_start: Enqueue what is overdue also when a worker starts, even what was enqueued a moment ago.
        only_if: Asked with the id after commit, right before the job is enqueued by `enqueue`; mostly `leases.mark_enqueued`.
        pause: Seconds in which one process enqueues the job at most once for the same id.
        every: Run it periodically, without an id.
    """

    def declared(function: Callable[..., Next | None]) -> Job:
        made = Job(
            name=function.__name__,
            function=function,
            overdue=overdue,
            key=key,
            at_start=at_start,
            only_if=only_if,
            pause=pause,
            every=every,
        )
        if JOBS.setdefault(made.name, made) is not made:
            raise ValueError(f"There are two jobs with the name {made.name}.")
        return made

    return declared
