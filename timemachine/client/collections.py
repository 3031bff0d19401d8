"""Collections of a server: put, find and ask, recorded where a session is named."""

from collections.abc import Sequence

from timemachine.client.connection import Connection, Document, given, segment


class Collections:
    """Put, find and ask. `session` (a uuid or a key) records what is done."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, name: str, frames: Sequence[Document], *, session: str | None = None) -> Document:
        """Put up to 1,000 passages (`text`, `title`, `uri`, `metadata`), all or none; the collection is made where there is none."""
        return self._post("put", name, {"frames": list(frames)}, session)

    def find(
        self,
        name: str,
        *,
        query: str,
        top_k: int | None = None,
        mode: str | None = None,
        adaptive: bool | None = None,
        as_of: str | None = None,
        session: str | None = None,
    ) -> Document:
        """Find passages."""
        body = given(query=query, top_k=top_k, mode=mode, adaptive=adaptive, as_of=as_of)
        return self._post("find", name, body, session)

    def ask(
        self,
        name: str,
        *,
        question: str,
        use_model: str | None = None,
        top_k: int | None = None,
        mode: str | None = None,
        no_cache: bool | None = None,
        session: str | None = None,
    ) -> Document:
        """Find passages and ask a model over them; `no_cache` asks it although the server has the answer already."""
        body = given(question=question, use_model=use_model, top_k=top_k, mode=mode, no_cache=no_cache)
        return self._post("ask", name, body, session)

    def _post(self, verb: str, name: str, body: Document, session: str | None) -> Document:
        if session is None:
            return self._connection.post(f"/api/collections/{segment(name, 'collection')}/{verb}", body)
        return self._connection.post(
            f"/api/sessions/{segment(session, 'session')}/{verb}", {**body, "collection": name}
        )
