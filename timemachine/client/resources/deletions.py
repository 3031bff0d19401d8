"""Deletion of steps and sessions, legal holds and retention rules. Requires the scope `admin`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from timemachine.client.connection import Document, given, segment
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.resources.resource import Resource
from timemachine.client.waiting import wait

_FINISHED = ("done", "cancelled")


class Deletions(Resource):
    """Delete steps and sessions, place legal holds, and set retention rules. Tombstones stay."""

    def turn(self, session: str, sequence: int, *, reason: str) -> Document:
        """Delete the content of a step; returns its erasure, `done` or, for a long session, `erasing`."""
        path = f"/api/sessions/{segment(session, 'session')}/actions/{sequence}"
        return self._connection.delete(path, {"reason": reason})

    def of_session(self, session: str, turn: int | None = None) -> Document:
        """What deleting a session or one of its steps would delete: `sessions`, `turns`, and how many sessions are `held`. Raises `Refused` if there is none."""
        found = self.hold(session, reason="", dry_run=True)
        amount = {name: found[name] for name in ("sessions", "turns", "held")}
        if turn is None:
            return amount
        path = f"/api/sessions/{segment(session, 'session')}/actions/{turn}"
        return amount | {"sessions": 0, "turns": int("deleted" not in self._connection.get(path))}

    def prepare(self, **which: Any) -> Document:
        """Preview a bulk deletion: `sessions`, `turns`, and how many are `held`. `which` are the filters of `Sessions.page`, `named` and `older_than_days`."""
        return self._connection.post("/api/forgettings", {"filter": given(**which)})

    def confirm(self, deletion: str, *, reason: str) -> Document:
        """Start the bulk deletion; each tombstone stores the reason."""
        return self._connection.post(f"{_path(deletion)}/confirm", {"reason": reason})

    def cancel(self, deletion: str) -> Document:
        """Cancel the bulk deletion; remaining sessions stay."""
        return self._connection.post(f"{_path(deletion)}/cancel")

    def get(self, deletion: str) -> Document:
        """A bulk deletion in its current state."""
        return self._connection.get(_path(deletion))

    def wait(self, deletion: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """Wait for the deletion and return it; calls `seen` with each state."""
        return wait(lambda: self.get(deletion), _FINISHED, seen)

    def sessions(self, deletion: str) -> Iterator[Document]:
        """Each session of a bulk deletion with its state."""
        path = f"{_path(deletion)}/sessions"
        return every(lambda after: self._connection.get(path, {"limit": LARGEST_PAGE, "after": after}))

    def every(self) -> Iterator[Document]:
        """Every bulk deletion, newest first."""
        return every(
            lambda after: self._connection.get("/api/forgettings", {"limit": LARGEST_PAGE, "after": after})
        )

    def hold(self, *sessions: str, reason: str, dry_run: bool = False, **which: Any) -> Document:
        """Place a legal hold on these sessions, or on all that match `which` now."""
        body: dict[str, Any] = {"reason": reason, "sessions": list(sessions), "dry_run": dry_run}
        return self._connection.post("/api/holds", body | ({"filter": given(**which)} if which else {}))

    def holds(self, session: str | None = None) -> Iterator[Document]:
        """Every hold, newest first, including released ones; optionally only those of a session."""
        query = {"limit": LARGEST_PAGE, "session": session}
        return every(lambda after: self._connection.get("/api/holds", query | {"after": after}))

    def get_hold(self, hold: str) -> Document:
        """One hold with its first sessions."""
        return self._connection.get(f"/api/holds/{segment(hold, 'hold')}")

    def release(self, hold: str, *, reason: str, sessions: Sequence[str] = ()) -> Document:
        """Release a hold, or only some of its sessions."""
        body = {"reason": reason, "sessions": list(sessions)}
        return self._connection.post(f"/api/holds/{segment(hold, 'hold')}/release", body)

    def rules(self) -> Document:
        """The retention rules with what each would delete now, and the minimum without a reason."""
        return self._connection.get("/api/retention")

    def set_rule(
        self, *, days: int | None, agent: str = "", tag: str = "", reason: str = "", dry_run: bool = False
    ) -> Document:
        """Keep the sessions of an agent, with a tag, both, or all others for this many days; None keeps them permanently."""
        body = {"days": days, "agent": agent, "tag": tag, "reason": reason, "dry_run": dry_run}
        return self._connection.post("/api/retention", body)

    def remove_rule(self, rule: str) -> Document:
        """Remove a rule."""
        return self._connection.delete(f"/api/retention/{segment(rule, 'rule')}")


def _path(deletion: str) -> str:
    return f"/api/forgettings/{segment(deletion, 'deletion')}"
