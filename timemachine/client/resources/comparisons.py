"""Comparisons of a server: launch one, wait for it, read what it shows."""

from collections.abc import Callable, Iterator, Sequence

from timemachine.client import waiting
from timemachine.client.connection import Connection, Document, given, segment
from timemachine.client.pages import LARGEST_PAGE, every


class Comparisons:
    """Launch, follow and read comparisons; a session is a uuid or a key."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def launch(
        self,
        sessions: Sequence[str],
        arms: Sequence[Document],
        *,
        reason: str,
        repeats: int = 1,
        noise_floor: bool = False,
        spend_limit_usd: float | None = None,
    ) -> Document:
        """Launch a comparison in the background: `{"comparison_id", "replay_ids"}`. An arm is `{"model": …, "temperature": …}`."""
        body = _asked(sessions, arms, repeats=repeats, noise_floor=noise_floor)
        body |= given(spend_limit_usd=spend_limit_usd) | {"reason": reason}
        return self._connection.post("/api/comparisons", body)

    def estimate(
        self,
        sessions: Sequence[str],
        arms: Sequence[Document],
        *,
        repeats: int = 1,
        noise_floor: bool = False,
    ) -> Document:
        """About what it would cost, for each arm over all its runs: `{"estimates": […]}`."""
        body = _asked(sessions, arms, repeats=repeats, noise_floor=noise_floor)
        return self._connection.post("/api/comparisons/estimate", body)

    def get(self, comparison: str) -> Document:
        """How far a comparison is, what its columns come to, and what each two of them show."""
        return self._connection.get(_path(comparison))

    def cells(self, comparison: str) -> Iterator[Document]:
        """Every ask with the figures of every answer."""
        path = f"{_path(comparison)}/cells"
        return every(lambda after: self._connection.get(path, {"limit": LARGEST_PAGE, "after": after}))

    def page(self, after: str | None = None) -> Document:
        """The project's comparisons, newest first: `{"items", "next"}`."""
        return self._connection.get("/api/comparisons", {"after": after})

    def cancel(self, comparison: str) -> Document:
        """Stop every replay of it."""
        return self._connection.post(f"{_path(comparison)}/cancel")

    def retry(self, comparison: str) -> Document:
        """Ask again what failed or was cancelled, once the comparison is over."""
        return self._connection.post(f"{_path(comparison)}/retry")

    def judge(self, comparison: str, *, model: str) -> Document:
        """Let a model judge every changed cell that it has no opinion on yet: `{"cells": n}`; it is asked in the background."""
        return self._connection.post(f"{_path(comparison)}/judgements", {"model": model})

    def judge_estimate(self, comparison: str, *, model: str) -> Document:
        """About what `judge` would cost: `{"cells", "calls", "input_tokens", "output_tokens", "cost_usd", "basis"}`."""
        return self._connection.get(f"{_path(comparison)}/judgements/estimate", {"model": model})

    def wait_for_judges(self, comparison: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """The comparison once every judge was asked; `seen` gets it at every look."""

        def look() -> Document:
            found = self.get(comparison)
            judges = found["judges"]
            return {"status": "asking" if judges["waiting"] + judges["asking"] else "asked", "found": found}

        return waiting.wait(look, ("asked",), lambda each: seen(each["found"]))["found"]  # type: ignore[no-any-return]

    def wait(self, comparison: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """The comparison once it is over and what it shows is computed; `seen` gets it at every look.

        A server that is away for a minute is waited for.
        """
        return self._until(comparison, waiting.OVER, seen)

    def results(self, comparison: str) -> Document:
        """What a comparison shows, once it is computed; of one that is not over, what it shows so far."""
        return self._until(comparison, (*waiting.OVER, "queued", "running"), lambda _: None, so_far=True)

    def _until(
        self,
        comparison: str,
        over: Sequence[str],
        seen: Callable[[Document], None],
        *,
        so_far: bool = False,
    ) -> Document:
        asked = {"so_far": "true"} if so_far else {}

        def look() -> Document:
            found = self._connection.get(_path(comparison), asked)
            computed = found["columns"] is not None if so_far else found["results"]["state"] != "under_way"
            computed = computed or found["results"]["state"] == "failed"
            return {"status": found["status"] if computed else "under_way", "found": found}

        return waiting.wait(look, over, lambda each: seen(each["found"]))["found"]  # type: ignore[no-any-return]


def _asked(sessions: Sequence[str], arms: Sequence[Document], *, repeats: int, noise_floor: bool) -> Document:
    return {
        "sessions": list(sessions),
        "arms": list(arms),
        "repeats": repeats,
        "noise_floor": noise_floor,
    }


def _path(comparison: str) -> str:
    return f"/api/comparisons/{segment(comparison, 'comparison')}"
