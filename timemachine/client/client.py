"""The resources of a server as Python objects."""

from collections.abc import Callable, Sequence
from typing import IO, Any, Self

from timemachine.client.connection import PATIENCE, Connection, Document, segment
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.resources.asks import Asks
from timemachine.client.resources.collections import Collections
from timemachine.client.resources.comparisons import Comparisons
from timemachine.client.resources.deletions import Deletions
from timemachine.client.resources.erasures import Erasures
from timemachine.client.resources.evidence import Evidence
from timemachine.client.resources.judgements import Judgements
from timemachine.client.resources.keys import Keys
from timemachine.client.resources.notes import Notes
from timemachine.client.resources.patterns import Patterns
from timemachine.client.resources.redactions import Redactions
from timemachine.client.resources.replays import Replays
from timemachine.client.resources.sessions import Sessions
from timemachine.client.resources.shares import Shares
from timemachine.client.resources.suites import Suites
from timemachine.client.resources.sweeps import Sweeps
from timemachine.client.resources.training import Training
from timemachine.client.server import Server
from timemachine.client.waiting import FINISHED, wait


class Client:
    """One server: `sessions`, `collections`, `replays`, `comparisons`, `suites`, `sweeps`, `judgements`, `notes`, `shares`, `evidence`, `redactions`, `patterns`, `keys`, and others.

    Every answer is the JSON document of the API, every failure a `ClientError`. Close it, or use it as a context manager.
    """

    def __init__(self, server: Server, *, patience: float = PATIENCE) -> None:
        self.connection = Connection(server, patience=patience)
        self.url = server.url
        self.sessions = Sessions(self.connection)
        self.collections = Collections(self.connection)
        self.asks = Asks(self.connection)
        self.replays = Replays(self.connection)
        self.comparisons = Comparisons(self.connection)
        self.suites = Suites(self.connection)
        self.sweeps = Sweeps(self.connection)
        self.shares = Shares(self.connection)
        self.redactions = Redactions(self.connection)
        self.evidence = Evidence(self.connection)
        self.erasures = Erasures(self.connection)
        self.deletions = Deletions(self.connection)
        self.training = Training(self.connection)
        self.judgements = Judgements(self.connection)
        self.notes = Notes(self.connection)
        self.patterns = Patterns(self.connection)
        self.keys = Keys(self.connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def project(self) -> Document:
        """The project of the API key, and the version of the server."""
        return self.connection.get("/api/project")

    def models(self) -> Document:
        """The models of the project: which can be used, where their keys come from, and their prices."""
        return self.connection.get("/api/models")

    def costs(self, by: str, **filters: str | None) -> Document:
        """The cost of recorded sessions grouped `by` one field; `filters` are `since`, `until`, `agent`, `model`, `tag` and `tool`."""
        query = {"by": by, "limit": LARGEST_PAGE, **filters}
        found = self.connection.get("/api/costs", query)
        rows = every(
            lambda after: self.connection.get("/api/costs", query | {"after": after}) if after else found
        )
        return found | {"items": list(rows), "next": None}

    def ground(self, answer: str, context: Sequence[str]) -> Document:
        """How well the context supports each sentence of an answer."""
        return self.connection.post("/api/ground", {"answer": answer, "context": list(context)})

    def ground_all(self, items: Sequence[Document]) -> list[Document]:
        """The groundings of several items `{"answer", "context"}` in order: at most 200 with 120,000 characters."""
        found: list[Document] = self.connection.post("/api/ground", {"items": list(items)})["items"]
        return found

    def search(self, query: str, **filters: str | float | None) -> Document:
        """One page of the sessions with steps that match by keyword or meaning, best first; `next` is the cursor.

        `filters` are `mode`, `kind`, `tool`, `model`, `agent`, `status`, `since`, `until`, `session`, `user`, `tag`,
        `min_cost` (USD), `limit`, `after`.
        """
        return self.connection.get("/api/search", {"q": query, **filters})

    def recall(self, *queries: str, **options: Any) -> Document:
        """What earlier sessions say about each question: turns with session and step, best first.

        `options` are `mode`, `agent`, `user`, `session`, `besides`, `tags`, `kinds`, `significances`, `min_importance`, `since`, `until`, `time_words`,
        `past_times`, `time_zone`, `around`, `limit`, and `budget` for a prompt text of at most this many tokens.
        """
        given = {name: value for name, value in options.items() if value is not None}
        return self.connection.post("/api/recall", {"queries": list(queries), **given})

    def import_file(
        self,
        data: bytes | IO[bytes],
        *,
        filename: str | None = None,
        format_name: str | None = None,
        later: bool = False,
    ) -> Document:
        """Import a file of another tool; returns the sessions and a report on every line. An open file is streamed.

        With `later`, and always above 64 MB, a worker imports it and the answer is `{"import_id": …}` for `wait_for_import`.
        """
        return self.connection.call(
            "POST",
            "/api/import",
            query={"format": format_name, "filename": filename, "later": "true" if later else None},
            content=data,
            content_type="application/octet-stream",
        )

    def wait_for_import(self, import_id: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """Wait for the import and return it; calls `seen` with each state."""
        path = f"/api/imports/{segment(import_id, 'import')}"
        return wait(lambda: self.connection.get(path), FINISHED, seen)

    def load_demo(self) -> Document:
        """Load the demo, or return it if it exists."""
        return self.connection.post("/api/demo")

    def remove_demo(self) -> Document:
        """Remove everything that the demo created."""
        return self.connection.delete("/api/demo")
