"""Comparisons, suites and judgements: wait for them and read the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from timemachine.client.generated import resources
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.waiting import FINISHED, wait

if TYPE_CHECKING:
    from timemachine.client.generated import types

LATEST: Final = "latest"


class Judgements(resources.Judgements):
    """Let a judge model check a recorded answer; a session is an id or a key."""

    def cancel(self, session: str, sequence: int, *, model: str) -> None:
        """Cancel a running judgement of this model on this step. A call that had started may have been billed."""
        for each in self.page(session, sequence)["items"]:
            if each["state"] == "asking" and each["model"] == model:
                self._cancel(session, sequence, each["id"])


class Comparisons(resources.Comparisons):
    """Launch, follow and read comparisons; a session is an id or a key."""

    def wait_for_judges(
        self, comparison: str, seen: Callable[[types.ComparisonResults], None] = lambda _: None
    ) -> types.ComparisonResults:
        """Wait for the judge models and return the comparison; calls `seen` with each state."""

        def have_answered(found: types.ComparisonResults) -> bool:
            return not found["judges"]["waiting"] + found["judges"]["asking"]

        return wait(lambda: self.get(comparison), have_answered, seen)

    def wait(
        self, comparison: str, seen: Callable[[types.ComparisonResults], None] = lambda _: None
    ) -> types.ComparisonResults:
        """Wait for the comparison and its statistics, and return it; calls `seen` with each state."""

        def is_computed(found: types.ComparisonResults) -> bool:
            return found["status"] in FINISHED and found["results"]["state"] != "under_way"

        return wait(lambda: self.get(comparison), is_computed, seen)

    def results(self, comparison: str) -> types.ComparisonResults:
        """The comparison with its statistics; for a running one, the statistics so far."""

        def is_computed(found: types.ComparisonResults) -> bool:
            return found["columns"] is not None or found["results"]["state"] == "failed"

        return wait(lambda: self.get(comparison, so_far=True), is_computed, lambda _: None)


class Suites(resources.Suites):
    """Create, run and read replay suites; a suite is an id or a name."""

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
