"""Asks of a server: one answer read while it is written, and ending one that is under way."""

from collections.abc import Callable
from typing import Any

from timemachine.client.connection import Connection, Document, segment
from timemachine.client.errors import Refused, Unreachable


def nobody(told: str) -> None:
    """Hear nothing."""


class Asks:
    """Asks that are under way."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def follow(
        self,
        path: str,
        body: Document,
        *,
        on_text: Callable[[str], None],
        on_begun: Callable[[str], None] = nobody,
        on_wait: Callable[[str], None] = nobody,
    ) -> Document:
        """Ask at a path, and hear the answer as it is written; `on_begun` gets the id by which the ask can be cancelled.

        `on_wait` gets a sentence each time that the model is busy and is asked again after a while.

        The document is that of an answer in one piece. Raises `Refused` where the ask failed, `Unreachable` where the server
        fell silent before it ended; the ask then goes on.
        """
        for name, told in self._connection.events(path, {**body, "stream": True}):
            if name == "begun":
                on_begun(str(told["id"]))
            elif name == "waiting":
                on_wait(str(told["message"]))
            elif name == "text":
                on_text(str(told["text"]))
            elif name == "done":
                return told
            elif name == "error":
                raise _failed(told)
        raise Unreachable("The answer broke off; the ask goes on, and its session will have its record.")

    def under_way(self) -> Document:
        """The asks whose model has not answered yet."""
        return self._connection.get("/api/asks")

    def cancel(self, ask_id: str) -> Document:
        """End an ask; what its model had begun may have been billed."""
        return self._connection.post(f"/api/asks/{segment(ask_id, 'ask')}/cancel")


def _failed(told: dict[str, Any]) -> Refused:
    return Refused(str(told["message"]), status=200, code=str(told["code"]), facts=told.get("facts") or {})
