"""Collections: put, find and ask."""

from collections.abc import Callable, Sequence
from typing import Final

from timemachine.client import waiting
from timemachine.client.connection import Document, given, segment
from timemachine.client.pages import LARGEST_PAGE
from timemachine.client.resources.asks import Asks, ignore
from timemachine.client.resources.resource import Resource
from timemachine.client.sent_file import SentFile

FINISHED: Final = ("done", "failed")


class Collections(Resource):
    """Put, find and ask; with a `session` (id or key) it is recorded there."""

    def put(self, name: str, frames: Sequence[Document], *, session: str | None = None) -> Document:
        """Put up to 1,000 passages (`text`, `title`, `uri`, `metadata`), all or none. Creates the collection if needed."""
        return self._post("put", name, {"frames": list(frames)}, session)

    def put_file(self, name: str, file: SentFile, *, session: str | None = None) -> Document:
        """Put a text, Markdown, HTML, PDF or JSONL file. A large one is stored in the background: `{"intake_id": …}`."""
        replace = "true" if file.replace else None
        fields = given(title=file.title, uri=file.uri, replace=replace, session=session)
        path = f"/api/collections/{segment(name, 'collection')}/files"
        return self._connection.send_form(path, fields, (file.name, file.data))

    def intake(self, intake: str) -> Document:
        """The progress and the report of a file that is stored in the background."""
        return self._connection.get(f"/api/intakes/{segment(intake, 'intake')}")

    def wait(self, intake: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """Wait for the intake and return it; calls `seen` with each state."""
        return waiting.wait(lambda: self.intake(intake), FINISHED, seen)

    def source_frames(
        self, name: str, source: str, *, limit: int = LARGEST_PAGE, after: str | None = None
    ) -> Document:
        """A page of the frames of a file, without their texts."""
        path = f"/api/collections/{segment(name, 'collection')}/sources/{segment(source, 'file')}/frames"
        return self._connection.get(path, {"limit": limit, "after": after})

    def find(
        self,
        name: str,
        *,
        query: str,
        top_k: int | None = None,
        mode: str | None = None,
        adaptive: bool | None = None,
        relative: float | None = None,
        cliff: float | None = None,
        min_score: float | None = None,
        as_of: str | None = None,
        embedding_model: str | None = None,
        session: str | None = None,
    ) -> Document:
        """Find passages."""
        body = given(
            query=query,
            top_k=top_k,
            mode=mode,
            adaptive=adaptive,
            relative=relative,
            cliff=cliff,
            min_score=min_score,
            as_of=as_of,
            embedding_model=embedding_model,
        )
        return self._post("find", name, body, session)

    def ask(
        self,
        name: str,
        *,
        question: str,
        use_model: str | None = None,
        top_k: int | None = None,
        mode: str | None = None,
        adaptive: bool | None = None,
        relative: float | None = None,
        cliff: float | None = None,
        min_score: float | None = None,
        no_cache: bool | None = None,
        embedding_model: str | None = None,
        session: str | None = None,
        on_text: Callable[[str], None] | None = None,
        on_begun: Callable[[str], None] = ignore,
        on_wait: Callable[[str], None] = ignore,
    ) -> Document:
        """Find passages and ask a model over them; `no_cache` ignores a cached answer.

        With `on_text` the answer is streamed, see `Asks.follow`.
        """
        body = given(
            question=question,
            use_model=use_model,
            top_k=top_k,
            mode=mode,
            adaptive=adaptive,
            relative=relative,
            cliff=cliff,
            min_score=min_score,
            no_cache=no_cache,
            embedding_model=embedding_model,
        )
        if on_text is None:
            return self._post("ask", name, body, session)
        path, request = _request("ask", name, body, session)
        return Asks(self._connection).follow(
            path, request, on_text=on_text, on_begun=on_begun, on_wait=on_wait
        )

    def embedding(self, name: str) -> Document:
        """The embedding model of the collection, how many frames are embedded, and the model that replaces it."""
        return self._connection.get(f"/api/collections/{segment(name, 'collection')}/embedding")

    def reembed(self, name: str, model: str) -> Document:
        """Embed the collection with another model in the background; returns the same document as `embedding`."""
        path = f"/api/collections/{segment(name, 'collection')}/embedding"
        return self._connection.post(path, {"model": model})

    def _post(self, verb: str, name: str, body: Document, session: str | None) -> Document:
        return self._connection.post(*_request(verb, name, body, session))


def _request(verb: str, name: str, body: Document, session: str | None) -> tuple[str, Document]:
    if session is None:
        return f"/api/collections/{segment(name, 'collection')}/{verb}", body
    return f"/api/sessions/{segment(session, 'session')}/{verb}", {**body, "collection": name}
