"""Forgetting on a server: turns, sessions in bulk, legal holds, retention rules. The key needs the scope `admin`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from timemachine.client.connection import Connection, Document, given, segment
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.waiting import wait

_OVER = ("done", "cancelled")


class Forgetting:
    """Delete turns and sessions with their tombstones left, hold sessions so that nothing can, and set how long they are kept."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def turn(self, session: str, sequence: int, *, reason: str) -> Document:
        """Delete a turn: its erasure, `done`, or `erasing` where a worker is at a long session."""
        path = f"/api/sessions/{segment(session, 'session')}/actions/{sequence}"
        return self._connection.delete(path, {"reason": reason})

    def of_session(self, session: str, turn: int | None = None) -> Document:
        """What deleting a session, or one turn of it, would take away: `sessions`, `turns`, and how many sessions are `held`. Raises `Refused` for none."""
        found = self.hold(session, reason="", dry_run=True)
        amount = {name: found[name] for name in ("sessions", "turns", "held")}
        if turn is None:
            return amount
        path = f"/api/sessions/{segment(session, 'session')}/actions/{turn}"
        return amount | {"sessions": 0, "turns": int("deleted" not in self._connection.get(path))}

    def prepare(self, **which: Any) -> Document:
        """What a deletion in bulk would take away: `sessions`, `turns`, and how many are `held`; `which` as of the list of sessions, and `named`, `older_than_days`."""
        return self._connection.post("/api/forgettings", {"filter": given(**which)})

    def confirm(self, forgetting: str, *, reason: str) -> Document:
        """Have what was found deleted, for a reason that each tombstone keeps."""
        return self._connection.post(f"{_path(forgetting)}/confirm", {"reason": reason})

    def cancel(self, forgetting: str) -> Document:
        """Delete none of the sessions that still wait."""
        return self._connection.post(f"{_path(forgetting)}/cancel")

    def get(self, forgetting: str) -> Document:
        """One deletion in bulk as it is now."""
        return self._connection.get(_path(forgetting))

    def wait(self, forgetting: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """The deletion once it is over; `seen` gets it at every look."""
        return wait(lambda: self.get(forgetting), _OVER, seen)

    def sessions(self, forgetting: str) -> Iterator[Document]:
        """Each session that was found, and what became of it."""
        path = f"{_path(forgetting)}/sessions"
        return every(lambda after: self._connection.get(path, {"limit": LARGEST_PAGE, "after": after}))

    def every(self) -> Iterator[Document]:
        """Every deletion in bulk, newest first."""
        return every(
            lambda after: self._connection.get("/api/forgettings", {"limit": LARGEST_PAGE, "after": after})
        )

    def hold(self, *sessions: str, reason: str, dry_run: bool = False, **which: Any) -> Document:
        """Hold these sessions, or all that fit `which` at this moment."""
        body: dict[str, Any] = {"reason": reason, "sessions": list(sessions), "dry_run": dry_run}
        return self._connection.post("/api/holds", body | ({"filter": given(**which)} if which else {}))

    def holds(self, session: str | None = None) -> Iterator[Document]:
        """Every hold, newest first, released ones too; of one session those that it is or was under."""
        query = {"limit": LARGEST_PAGE, "session": session}
        return every(lambda after: self._connection.get("/api/holds", query | {"after": after}))

    def get_hold(self, hold: str) -> Document:
        """One hold with its first sessions."""
        return self._connection.get(f"/api/holds/{segment(hold, 'hold')}")

    def release(self, hold: str, *, reason: str, sessions: Sequence[str] = ()) -> Document:
        """Release a hold, or only these of its sessions."""
        body = {"reason": reason, "sessions": list(sessions)}
        return self._connection.post(f"/api/holds/{segment(hold, 'hold')}/release", body)

    def rules(self) -> Document:
        """The retention rules, each with what it would delete now, and the floor."""
        return self._connection.get("/api/retention")

    def set_rule(
        self, *, days: int | None, agent: str = "", tag: str = "", reason: str = "", dry_run: bool = False
    ) -> Document:
        """Keep the sessions of an agent, with a tag, both, or all others for so many days; None for good."""
        body = {"days": days, "agent": agent, "tag": tag, "reason": reason, "dry_run": dry_run}
        return self._connection.post("/api/retention", body)

    def remove_rule(self, rule: str) -> Document:
        """Take a rule away."""
        return self._connection.delete(f"/api/retention/{segment(rule, 'rule')}")


def _path(forgetting: str) -> str:
    return f"/api/forgettings/{segment(forgetting, 'deletion')}"
