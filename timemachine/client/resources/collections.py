"""Collections: put, find and ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Unpack

from timemachine.client.connection import given, segment
from timemachine.client.errors import Refused, Unreachable
from timemachine.client.generated import resources

if TYPE_CHECKING:
    from timemachine.client.generated import types
    from timemachine.client.sent_file import SentFile
    from timemachine.core.pure.json_types import JsonObject


def ignore(_: str) -> None:
    """Do nothing."""


class Collections(resources.Collections):
    """Put, find and ask; with a `session` (id or key) it is recorded there."""

    def put(self, name: str, frames: Sequence[types.FrameIn], *, session: str | None = None) -> types.PutOut:
        """Put up to 1,000 passages (`text`, `title`, `uri`, `metadata`), all or none. Creates the collection if needed."""
        if session is None:
            return self._put(name, frames=frames)
        return self._put_in_session(session, collection=name, frames=frames)

    def put_file(
        self, name: str, file: SentFile, *, session: str | None = None
    ) -> types.FilePutOut | types.IntakeAccepted:
        """Put a text, Markdown, HTML, PDF or JSONL file. A large one is stored in the background: `{"intake_id": …}`."""
        replace = "true" if file.replace else None
        fields = given(title=file.title, uri=file.uri, replace=replace, session=session)
        path = f"/api/collections/{segment(name, 'collection')}/files"
        found: types.FilePutOut | types.IntakeAccepted = self._connection.send_form(
            path, fields, (file.name, file.data)
        )
        return found

    def find(
        self, name: str, *, session: str | None = None, **options: Unpack[types.FindIn]
    ) -> types.FindOut:
        """Find passages for a `query`.

        `options` are `top_k`, `mode`, `adaptive`, `relative`, `cliff`, `min_score`, `as_of` and `embedding_model`.
        """
        if session is None:
            return self._find(name, **options)
        return self._find_in_session(session, collection=name, **options)

    def ask(
        self,
        name: str,
        *,
        session: str | None = None,
        model: str | None = None,
        on_text: Callable[[str], None] | None = None,
        on_begun: Callable[[str], None] = ignore,
        on_wait: Callable[[str], None] = ignore,
        **options: Unpack[types.AskIn],
    ) -> types.AskOut:
        """Find passages and ask a model a `question` over them. With `on_text` the answer is streamed, see `Asks.follow`.

        `options` are those of `find`, `use_model` (the same as `model`), and `no_cache`, which ignores a cached answer.
        """
        if model is not None:
            options["use_model"] = model
        if on_text is not None:
            if session is None:
                path, body = f"/api/collections/{segment(name, 'collection')}/ask", given(**options)
            else:
                path, body = (
                    f"/api/sessions/{segment(session, 'session')}/ask",
                    given(**options, collection=name),
                )
            return Asks(self._connection).follow(
                path, body, on_text=on_text, on_begun=on_begun, on_wait=on_wait
            )
        if session is None:
            return self._ask(name, **options)
        return self._ask_in_session(session, collection=name, **options)


class Asks(resources.Asks):
    """Stream answers, list running asks and cancel them."""

    def follow(
        self,
        path: str,
        body: JsonObject,
        *,
        on_text: Callable[[str], None],
        on_begun: Callable[[str], None] = ignore,
        on_wait: Callable[[str], None] = ignore,
    ) -> types.AskOut:
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
                answer: types.AskOut = data
                return answer
            elif name == "error":
                raise Refused(
                    str(data["message"]), status=200, code=str(data["code"]), facts=data.get("facts") or {}
                )
        raise Unreachable("The connection was lost. The ask continues and will be recorded in its session.")
