"""Replay suites: wait for a run and read what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from timemachine.client.generated import resources
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.waiting import FINISHED, wait

if TYPE_CHECKING:
    from timemachine.client.generated import types

LATEST: Final = "latest"


class Suites(resources.Suites):
    """Create, run and read replay suites; a suite is an id or a name."""

    def every(self) -> Iterator[types.SuiteOut]:
        """The suites by name, each with its latest run."""
        return every(lambda after: self._page(limit=LARGEST_PAGE, after=after))

    def runs(self, suite: str) -> Iterator[types.SuiteRunOut]:
        """The runs of a suite, newest first."""
        return every(lambda after: self._runs(suite, limit=LARGEST_PAGE, after=after))

    def get_run(self, suite: str, number: int | str = LATEST) -> types.SuiteRunDetail:
        """The progress and the results of a run."""
        return self._get_run(suite, str(number))

    def report(
        self, suite: str, number: int | str = LATEST, *, change: str | None = None
    ) -> Iterator[types.StepChangeOut]:
        """Every step of a run next to the same step of the run before, optionally only those with one `change`."""
        return every(
            lambda after: self._report(suite, str(number), change=change, limit=LARGEST_PAGE, after=after)
        )

    def cancel(self, suite: str, number: int | str = LATEST) -> types.SuiteRunDetail:
        """Cancel every replay of a run."""
        return self._cancel(suite, str(number))

    def wait(
        self, suite: str, number: int | str, seen: Callable[[types.SuiteRunDetail], None] = lambda _: None
    ) -> types.SuiteRunDetail:
        """Wait for the run and return it; calls `seen` with each state."""
        return wait(lambda: self.get_run(suite, number), lambda found: found["status"] in FINISHED, seen)
