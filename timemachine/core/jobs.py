"""Jobs: what workers do outside requests. A domain declares its jobs in its `tasks.py`, without knowing the queue.

    @job(overdue=commands.overdue, at_start=True)
    def run_import(import_id: UUID) -> None:
        worker.work(import_id)

`timemachine.jobs` finds every `tasks.py`, has workers run the jobs that messages name, and enqueues what is overdue.
The rows of work are `Leased` and `Enqueued` (`timemachine.core.leases`). A message holds the job's name and an id. It can be lost or delivered twice, so every job must
be safe to run at any time.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from inspect import signature
from typing import Any, Final
from uuid import UUID

from django.db.models import ForeignKey, Model, QuerySet

from timemachine.core.pure.queue_names import DEFAULT
from timemachine.core.row_security import no_rows, rows_of

type Next = Iterable[tuple["Job", Any]]
"""Jobs to enqueue after this one, each with an id."""
type Overdue = Callable[[], QuerySet[Any, Any] | Iterable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A declared job. Calling it runs it immediately, without the queue, and returns what to enqueue next."""

    name: str
    queue: str
    function: Callable[..., Next | None]
    of: type[Model] | None
    overdue: Overdue | None
    key: str
    at_start: bool
    only_if: Callable[[Any], bool] | None
    pause: float
    every: timedelta | None

    def __call__(self, *ids: Any) -> list[tuple["Job", Any]]:
        """Run the job for an id, which can be text as in a message. A periodic job takes none."""
        kinds = [each.annotation for each in signature(self.function).parameters.values()]
        given = [kind(str(each)) for kind, each in zip(kinds, ids, strict=True)]
        with nullcontext() if self.of is None else _rows_of_project_of(self.of, *given):
            return list(self.function(*given) or ())


JOBS: Final[dict[str, Job]] = {}
"""All jobs by name."""


def job(
    *,
    of: type[Model] | None = None,
    queue: str = DEFAULT,
    overdue: Overdue | None = None,
    key: str = "pk",
    at_start: bool = False,
    only_if: Callable[[Any], bool] | None = None,
    pause: float = 0,
    every: timedelta | None = None,
) -> Callable[[Callable[..., Next | None]], Job]:
    """Declare a function as a job. It takes one id, of the type in its annotation, and may return what to enqueue next.

    Args:

        of: The model of the id's row. The job sees only the rows of its project (`timemachine.core.row_security`).
        queue: One of `QUEUES`, in which it waits.
        overdue: What the periodic sweep enqueues: `Enqueued` rows with work to do, which are marked and not enqueued again for
            a while, or plain ids, which are enqueued at every sweep.
        key: The field of these rows that the job takes.
        at_start: Also enqueue overdue rows when a worker starts, even those that were enqueued a moment ago.
        only_if: Called with the id after commit, right before `enqueue` sends the message; usually `leases.mark_enqueued`.
        pause: Seconds in which one process enqueues the job at most once for the same id.
        every: Run it periodically, without an id.
    """

    def declared(function: Callable[..., Next | None]) -> Job:
        made = Job(
            name=function.__name__,
            queue=queue,
            function=function,
            of=of,
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


def _rows_of_project_of(model: type[Model], row_id: Any) -> AbstractContextManager[None]:
    """See only the rows of a row's project inside; none if there is no such row any more."""
    rows = model._base_manager.filter(pk=row_id)
    project: UUID | None = rows.values_list(_path_to_project(model), flat=True).first()
    return no_rows() if project is None else rows_of(project)


@cache
def _path_to_project(model: type[Model]) -> str:
    """Return the lookup of a row's project: its own, or that of what it belongs to."""
    if model._meta.db_table == "tm_project":
        return "pk"
    names = [field.name for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]
    return "project_id" if "project" in names else f"{names[0]}__project_id"
