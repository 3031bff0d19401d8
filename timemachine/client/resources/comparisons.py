"""Comparisons: launch, wait and read the results."""

from collections.abc import Callable, Iterator, Sequence

from timemachine.client import waiting
from timemachine.client.connection import Document, given, segment
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.resources.resource import Resource


class Comparisons(Resource):
    """Launch, follow and read comparisons; a session is an id or a key."""

    def launch(
        self,
        sessions: Sequence[str],
        variants: Sequence[Document],
        *,
        reason: str,
        repeats: int = 1,
        noise_floor: bool = False,
        spend_limit_usd: float | None = None,
    ) -> Document:
        """Launch a comparison in the background: `{"comparison_id", "replay_ids"}`. A variant is `{"model": …, "temperature": …}`."""
        body = _body(sessions, variants, repeats=repeats, noise_floor=noise_floor)
        body |= given(spend_limit_usd=spend_limit_usd) | {"reason": reason}
        return self._connection.post("/api/comparisons", body)

    def estimate(
        self,
        sessions: Sequence[str],
        variants: Sequence[Document],
        *,
        repeats: int = 1,
        noise_floor: bool = False,
    ) -> Document:
        """The estimated cost of each variant over all its runs: `{"estimates": […]}`."""
        body = _body(sessions, variants, repeats=repeats, noise_floor=noise_floor)
        return self._connection.post("/api/comparisons/estimate", body)

    def get(self, comparison: str) -> Document:
        """The progress of a comparison, and the statistics of its columns and pairs."""
        return self._connection.get(_path(comparison))

    def cells(self, comparison: str) -> Iterator[Document]:
        """Every ask with its answers."""
        path = f"{_path(comparison)}/cells"
        return every(lambda after: self._connection.get(path, {"limit": LARGEST_PAGE, "after": after}))

    def page(self, after: str | None = None) -> Document:
        """A page of the comparisons, newest first."""
        return self._connection.get("/api/comparisons", {"after": after})

    def cancel(self, comparison: str) -> Document:
        """Cancel all of its replays."""
        return self._connection.post(f"{_path(comparison)}/cancel")

    def retry(self, comparison: str) -> Document:
        """Retry what failed or was cancelled in a finished comparison."""
        return self._connection.post(f"{_path(comparison)}/retry")

    def judge(self, comparison: str, *, model: str) -> Document:
        """Let a judge model rate every changed answer it has not rated yet, in the background: `{"cells": n}`."""
        return self._connection.post(f"{_path(comparison)}/judgements", {"model": model})

    def judge_estimate(self, comparison: str, *, model: str) -> Document:
        """The estimated cost of `judge`: `{"cells", "calls", "input_tokens", "output_tokens", "cost_usd", "basis"}`."""
        return self._connection.get(f"{_path(comparison)}/judgements/estimate", {"model": model})

    def wait_for_judges(self, comparison: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """Wait for the judge models and return the comparison; calls `seen` with each state."""

        def look() -> Document:
            found = self.get(comparison)
            judges = found["judges"]
            return {"status": "asking" if judges["waiting"] + judges["asking"] else "asked", "found": found}

        return waiting.wait(look, ("asked",), lambda each: seen(each["found"]))["found"]  # type: ignore[no-any-return]

    def wait(self, comparison: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """Wait for the comparison and its statistics, and return it; calls `seen` with each state."""
        return self._until(comparison, waiting.FINISHED, seen)

    def results(self, comparison: str) -> Document:
        """The comparison with its statistics; for a running one, the statistics so far."""
        return self._until(comparison, (*waiting.FINISHED, "queued", "running"), lambda _: None, so_far=True)

    def _until(
        self,
        comparison: str,
        finished: Sequence[str],
        seen: Callable[[Document], None],
        *,
        so_far: bool = False,
    ) -> Document:
        query = {"so_far": "true"} if so_far else {}

        def look() -> Document:
            found = self._connection.get(_path(comparison), query)
            computed = found["columns"] is not None if so_far else found["results"]["state"] != "under_way"
            computed = computed or found["results"]["state"] == "failed"
            return {"status": found["status"] if computed else "under_way", "found": found}

        return waiting.wait(look, finished, lambda each: seen(each["found"]))["found"]  # type: ignore[no-any-return]


def _body(
    sessions: Sequence[str], variants: Sequence[Document], *, repeats: int, noise_floor: bool
) -> Document:
    return {
        "sessions": list(sessions),
        "arms": list(variants),
        "repeats": repeats,
        "noise_floor": noise_floor,
    }


def _path(comparison: str) -> str:
    return f"/api/comparisons/{segment(comparison, 'comparison')}"
