"""Replay suites: create, edit, run, wait and read what changed."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from timemachine.client import waiting
from timemachine.client.connection import Document, segment
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.resources.resource import Resource

LATEST: Final = "latest"


class Suites(Resource):
    """Create, run and read replay suites; a suite is an id or a name."""

    def create(self, name: str, sessions: Sequence[str], facts: Document) -> Document:
        """Create a suite; `facts` can have `options`, `use_models`, `fail_on`, `schedule` and `matching`."""
        return self._connection.post("/api/suites", {"name": name, "sessions": list(sessions)} | facts)

    def every(self) -> Iterator[Document]:
        """The suites by name, each with its latest run."""
        return every(
            lambda after: self._connection.get("/api/suites", {"limit": LARGEST_PAGE, "after": after})
        )

    def get(self, suite: str) -> Document:
        """A suite with its latest run and its changes."""
        return self._connection.get(_path(suite))

    def edit(self, suite: str, facts: dict[str, Any]) -> Document:
        """Change the given fields."""
        return self._connection.patch(_path(suite), facts)

    def delete(self, suite: str) -> Document:
        """Delete a suite and its reports: `{"id", "name", "runs"}`. The replays stay."""
        return self._connection.delete(_path(suite))

    def run(self, suite: str, *, fail_on: Sequence[str] = ()) -> Document:
        """Launch a run in the background, with additional conditions for this run."""
        return self._connection.post(f"{_path(suite)}/runs", {"fail_on": list(fail_on)})

    def estimate(self, suite: str) -> Document:
        """The estimated cost of a run for each model: `{"estimates": […]}`."""
        return self._connection.post(f"{_path(suite)}/runs/estimate", {})

    def runs(self, suite: str) -> Iterator[Document]:
        """The runs of a suite, newest first."""
        path = f"{_path(suite)}/runs"
        return every(lambda after: self._connection.get(path, {"limit": LARGEST_PAGE, "after": after}))

    def get_run(self, suite: str, number: int | str = LATEST) -> Document:
        """The progress and the results of a run."""
        return self._connection.get(f"{_path(suite)}/runs/{number}")

    def report(
        self, suite: str, number: int | str = LATEST, *, change: str | None = None
    ) -> Iterator[Document]:
        """Every step of a run next to the same step of the run before, optionally only those with one `change`."""
        path, query = f"{_path(suite)}/runs/{number}/report", {"limit": LARGEST_PAGE, "change": change}
        return every(lambda after: self._connection.get(path, query | {"after": after}))

    def cancel(self, suite: str, number: int | str = LATEST) -> Document:
        """Cancel every replay of a run."""
        return self._connection.post(f"{_path(suite)}/runs/{number}/cancel")

    def wait(
        self, suite: str, number: int | str, seen: Callable[[Document], None] = lambda _: None
    ) -> Document:
        """Wait for the run and return it; calls `seen` with each state."""
        return waiting.wait(lambda: self.get_run(suite, number), waiting.FINISHED, seen)


def _path(suite: str) -> str:
    return f"/api/suites/{segment(suite, 'suite')}"
