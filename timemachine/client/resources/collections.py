"""Collections of a server: put, find and ask, recorded where a session is named."""

from collections.abc import Callable, Sequence
from typing import Final

from timemachine.client import waiting
from timemachine.client.connection import Connection, Document, given, segment
from timemachine.client.pages import LARGEST_PAGE
from timemachine.client.resources.asks import Asks, nobody
from timemachine.client.sent_file import SentFile

OVER: Final = ("done", "failed")


class Collections:
    """Put, find and ask. `session` (a uuid or a key) records what is done."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, name: str, frames: Sequence[Document], *, session: str | None = None) -> Document:
        """Put up to 1,000 passages (`text`, `title`, `uri`, `metadata`), all or none; the collection is made where there is none."""
        return self._post("put", name, {"frames": list(frames)}, session)

    def put_file(self, name: str, file: SentFile, *, session: str | None = None) -> Document:
        """Put a text, Markdown, HTML, PDF or JSONL file. A large one is put in the background: `{"intake_id": …}`."""
        replace = "true" if file.replace else None
        fields = given(title=file.title, uri=file.uri, replace=replace, session=session)
        path = f"/api/collections/{segment(name, 'collection')}/files"
        return self._connection.send_form(path, fields, (file.name, file.data))

    def intake(self, intake: str) -> Document:
        """How far a file is that is put in the background, and what it came to."""
        return self._connection.get(f"/api/intakes/{segment(intake, 'intake')}")

    def wait(self, intake: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """The intake once it is over; `seen` gets it at every look."""
        return waiting.wait(lambda: self.intake(intake), OVER, seen)

    def source_frames(
        self, name: str, source: str, *, limit: int = LARGEST_PAGE, after: str | None = None
    ) -> Document:
        """A page of the frames that are passages of a file, without their texts."""
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
        on_begun: Callable[[str], None] = nobody,
        on_wait: Callable[[str], None] = nobody,
    ) -> Document:
        """Find passages and ask a model over them; `no_cache` asks it although the server has the answer already.

        With `on_text` the answer is heard as it is written, `on_begun` gets the id by which it can be cancelled, `on_wait` why
        a busy model is asked again later.
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
        path, whole = _place("ask", name, body, session)
        return Asks(self._connection).follow(path, whole, on_text=on_text, on_begun=on_begun, on_wait=on_wait)

    def embedding(self, name: str) -> Document:
        """The collection's embedding model, how many of its frames are embedded, and what is to replace it."""
        return self._connection.get(f"/api/collections/{segment(name, 'collection')}/embedding")

    def reembed(self, name: str, model: str) -> Document:
        """Have the collection embedded with another model in the background; answers as `embedding` does."""
        path = f"/api/collections/{segment(name, 'collection')}/embedding"
        return self._connection.post(path, {"model": model})

    def _post(self, verb: str, name: str, body: Document, session: str | None) -> Document:
        return self._connection.post(*_place(verb, name, body, session))


def _place(verb: str, name: str, body: Document, session: str | None) -> tuple[str, Document]:
    if session is None:
        return f"/api/collections/{segment(name, 'collection')}/{verb}", body
    return f"/api/sessions/{segment(session, 'session')}/{verb}", {**body, "collection": name}
