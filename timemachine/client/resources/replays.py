"""Replays, sweeps and judgements: wait for them and read the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from timemachine.client.generated import resources
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.waiting import FINISHED, wait

if TYPE_CHECKING:
    from timemachine.client.generated import types


class Replays(resources.Replays):
    """Launch, follow and read replays."""

    def steps(self, replay: str) -> Iterator[types.ReplayStepOut]:
        """Every step of the replay, in the order of the recording."""
        return every(lambda after: self._steps(replay, limit=LARGEST_PAGE, after=after))

    def wait(self, replay: str, seen: Callable[[types.ReplayOut], None] = lambda _: None) -> types.ReplayOut:
        """Wait for the replay and return it; calls `seen` with each state."""
        return wait(lambda: self.get(replay), lambda found: found["status"] in FINISHED, seen)


class Sweeps(resources.Sweeps):
    """Launch and follow sweeps."""

    def wait(self, sweep: str, seen: Callable[[types.SweepOut], None] = lambda _: None) -> types.SweepOut:
        """Wait for the sweep and return it; calls `seen` with each state."""
        return wait(lambda: self.get(sweep), lambda found: found["status"] in FINISHED, seen)


class Judgements(resources.Judgements):
    """Let a judge model check a recorded answer; a session is an id or a key."""

    def cancel(self, session: str, sequence: int, *, model: str) -> None:
        """Cancel a running judgement of this model on this step. A call that had started may have been billed."""
        for each in self.page(session, sequence)["items"]:
            if each["state"] == "asking" and each["model"] == model:
                self._cancel(session, sequence, each["id"])
