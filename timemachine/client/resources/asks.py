"""Streamed and running asks."""

from collections.abc import Callable
from typing import Any

from timemachine.client.connection import Document, segment
from timemachine.client.errors import Refused, Unreachable
from timemachine.client.resources.resource import Resource


def ignore(_: str) -> None:
    """Do nothing."""


class Asks(Resource):
    """Stream answers, list running asks and cancel them."""

    def follow(
        self,
        path: str,
        body: Document,
        *,
        on_text: Callable[[str], None],
        on_begun: Callable[[str], None] = ignore,
        on_wait: Callable[[str], None] = ignore,
    ) -> Document:
        """Ask at a path and stream the answer; returns the same document as a request without streaming.

        Calls `on_begun` with the id for `cancel`, `on_text` with each part of the answer, and `on_wait` with a message each time the
        model is busy and the call is retried later. Raises `Refused` if the ask failed, and `Unreachable` if the connection was lost;
        the ask then continues on the server.
        """
        for name, data in self._connection.events(path, {**body, "stream": True}):
            if name == "begun":
                on_begun(str(data["id"]))
            elif name == "waiting":
                on_wait(str(data["message"]))
            elif name == "text":
                on_text(str(data["text"]))
            elif name == "done":
                return data
            elif name == "error":
                raise _failed(data)
        raise Unreachable("The connection was lost. The ask continues and will be recorded in its session.")

    def running(self) -> Document:
        """The asks whose model has not answered yet."""
        return self._connection.get("/api/asks")

    def cancel(self, ask_id: str) -> Document:
        """Cancel an ask. A call that had started may have been billed."""
        return self._connection.post(f"/api/asks/{segment(ask_id, 'ask')}/cancel")


def _failed(data: dict[str, Any]) -> Refused:
    return Refused(str(data["message"]), status=200, code=str(data["code"]), facts=data.get("facts") or {})
