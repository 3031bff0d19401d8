"""The resources of a server as Python objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, Any, Self, cast

from timemachine.client.connection import PATIENCE, Connection
from timemachine.client.generated import resources
from timemachine.client.pages import LARGEST_PAGE, whole
from timemachine.client.resources.collections import Asks, Collections
from timemachine.client.resources.deletions import Deletions, Evidence
from timemachine.client.resources.replays import Comparisons, Judgements, Suites
from timemachine.client.resources.sessions import Patterns, Sessions, Training
from timemachine.client.server import Server
from timemachine.client.waiting import FINISHED, wait

if TYPE_CHECKING:
    from timemachine.client.generated import types


class Client(resources.Root):
    """One server: `sessions`, `collections`, `replays`, `comparisons`, `suites`, `sweeps`, `judgements`, `notes`, `shares`, `evidence`, `audit_log`, `redactions`, `patterns`, `keys`, and others.

    Every answer is the JSON document of the API, every failure a `ClientError`. Close it, or use it as a context manager.
    """

    def __init__(self, server: Server, *, patience: float = PATIENCE) -> None:
        super().__init__(Connection(server, patience=patience))
        self.connection = self._connection
        self.url = server.url
        self.sessions = Sessions(self.connection)
        self.collections = Collections(self.connection)
        self.asks = Asks(self.connection)
        self.replays = resources.Replays(self.connection)
        self.comparisons = Comparisons(self.connection)
        self.suites = Suites(self.connection)
        self.sweeps = resources.Sweeps(self.connection)
        self.shares = resources.Shares(self.connection)
        self.redactions = resources.Redactions(self.connection)
        self.evidence = Evidence(self.connection)
        self.audit_log = resources.AuditLog(self.connection)
        self.erasures = resources.Erasures(self.connection)
        self.deletions = Deletions(self.connection)
        self.training = Training(self.connection)
        self.judgements = Judgements(self.connection)
        self.notes = resources.Notes(self.connection)
        self.patterns = Patterns(self.connection)
        self.keys = resources.Keys(self.connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def costs(self, by: str, **filters: Any) -> types.CostsOut:
        """The cost of recorded sessions grouped `by` one field; `filters` are `since`, `until`, `agent`, `model`, `tag` and `tool`."""
        return whole(lambda after: self._costs(by=by, limit=LARGEST_PAGE, after=after, **filters))

    def ground(self, answer: str, context: Sequence[str]) -> types.GroundingOut:
        """How well the context supports each sentence of an answer."""
        return cast("types.GroundingOut", self._ground(answer=answer, context=context))

    def ground_all(self, items: Sequence[types.AnswerIn]) -> list[types.GroundingOut]:
        """The groundings of several items `{"answer", "context"}` in order: at most 200 with 120,000 characters."""
        return cast("types.GroundingPage", self._ground(items=items))["items"]

    def search(self, query: str, **filters: Any) -> types.SearchPage:
        """One page of the sessions with steps that match by keyword or meaning, best first; `next` is the cursor.

        `filters` are `mode`, `kind`, `tool`, `model`, `agent`, `status`, `since`, `until`, `session`, `user`, `tag`,
        `min_cost` (USD), `limit`, `after`.
        """
        return self._search(query, **filters)

    def recall(self, *queries: str, **options: Any) -> types.RecallOut:
        """What earlier sessions say about each question: turns with session and step, best first.

        `options` are `mode`, `agent`, `user`, `session`, `besides`, `tags`, `kinds`, `significances`, `min_importance`, `since`, `until`, `time_words`,
        `past_times`, `time_zone`, `around`, `limit` (or `top_k`, the same), and `budget` for a prompt text of at most this many tokens.
        """
        return self._recall(queries, **options)

    def import_file(
        self,
        data: bytes | IO[bytes],
        *,
        filename: str | None = None,
        format_name: str | None = None,
        later: bool = False,
    ) -> types.ImportOut | types.ImportAccepted:
        """Import a file of another tool; returns the sessions and a report on every line. An open file is streamed.

        With `later`, and always above 64 MB, a worker imports it and the answer is `{"import_id": …}` for `wait_for_import`.
        """
        found: types.ImportOut | types.ImportAccepted = self.connection.call(
            "POST",
            "/api/import",
            query={"format": format_name, "filename": filename, "later": later or None},
            content=data,
            content_type="application/octet-stream",
        )
        return found

    def wait_for_import(
        self, import_id: str, seen: Callable[[types.FileImportOut], None] = lambda _: None
    ) -> types.FileImportOut:
        """Wait for the import and return it; calls `seen` with each state."""
        return wait(lambda: self._read_import(import_id), lambda found: found["status"] in FINISHED, seen)
