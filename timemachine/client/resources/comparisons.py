"""Comparisons: wait and read the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from timemachine.client.generated import resources
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.waiting import FINISHED, wait

if TYPE_CHECKING:
    from timemachine.client.generated import types


class Comparisons(resources.Comparisons):
    """Launch, follow and read comparisons; a session is an id or a key."""

    def cells(self, comparison: str) -> Iterator[types.AskCells]:
        """Every ask with its answers."""
        return every(lambda after: self._cells(comparison, limit=LARGEST_PAGE, after=after))

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
