"""Suites of a server: make and edit them, run one, wait for it, read what changed."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from timemachine.client import waiting
from timemachine.client.connection import Connection, Document, segment
from timemachine.client.pages import LARGEST_PAGE, every

LATEST: Final = "latest"


class Suites:
    """Make, run and read replay suites; a suite is its id or its name."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self, name: str, sessions: Sequence[str], facts: Document) -> Document:
        """Keep a suite; `facts` are `options`, `use_models`, `fail_on` and `schedule`, as far as they are wanted."""
        return self._connection.post("/api/suites", {"name": name, "sessions": list(sessions)} | facts)

    def every(self) -> Iterator[Document]:
        """The project's suites by name, each with its latest run."""
        return every(
            lambda after: self._connection.get("/api/suites", {"limit": LARGEST_PAGE, "after": after})
        )

    def get(self, suite: str) -> Document:
        """A suite with its latest run, and who changed it."""
        return self._connection.get(_path(suite))

    def edit(self, suite: str, facts: dict[str, Any]) -> Document:
        """Change what is given; the rest stays."""
        return self._connection.patch(_path(suite), facts)

    def delete(self, suite: str) -> Document:
        """Delete a suite and its reports; the replays stay: `{"id", "name", "runs"}`."""
        return self._connection.delete(_path(suite))

    def run(self, suite: str, *, fail_on: Sequence[str] = ()) -> Document:
        """Launch a run in the background, with further conditions for this one; the run with its replays."""
        return self._connection.post(f"{_path(suite)}/runs", {"fail_on": list(fail_on)})

    def estimate(self, suite: str) -> Document:
        """About what a run would cost if it were launched now, model by model: `{"estimates": […]}`."""
        return self._connection.post(f"{_path(suite)}/runs/estimate", {})

    def runs(self, suite: str) -> Iterator[Document]:
        """The runs of a suite, the latest first."""
        path = f"{_path(suite)}/runs"
        return every(lambda after: self._connection.get(path, {"limit": LARGEST_PAGE, "after": after}))

    def get_run(self, suite: str, number: int | str = LATEST) -> Document:
        """How far a run is and what it came to."""
        return self._connection.get(f"{_path(suite)}/runs/{number}")

    def report(
        self, suite: str, number: int | str = LATEST, *, change: str | None = None
    ) -> Iterator[Document]:
        """Every step of a run beside the same step of the run before, or those of one `change`."""
        path, query = f"{_path(suite)}/runs/{number}/report", {"limit": LARGEST_PAGE, "change": change}
        return every(lambda after: self._connection.get(path, query | {"after": after}))

    def cancel(self, suite: str, number: int | str = LATEST) -> Document:
        """Stop every replay of a run."""
        return self._connection.post(f"{_path(suite)}/runs/{number}/cancel")

    def wait(
        self, suite: str, number: int | str, seen: Callable[[Document], None] = lambda _: None
    ) -> Document:
        """The run once it is over; `seen` gets it at every look. A server that is away for a minute is waited for."""
        return waiting.wait(lambda: self.get_run(suite, number), waiting.OVER, seen)


def _path(suite: str) -> str:
    return f"/api/suites/{segment(suite, 'suite')}"
