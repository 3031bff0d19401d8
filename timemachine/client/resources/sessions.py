"""Sessions and their steps."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from timemachine.client.connection import Document, given, segment
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.resources.resource import Resource

_SESSIONS = "/api/sessions"


class Sessions(Resource):
    """Start, read, end and delete sessions; a session is an id or a key."""

    def start(
        self,
        *,
        name: str,
        collection: str | None = None,
        agent: str | None = None,
        key: str | None = None,
        **more: Any,
    ) -> Document:
        """Start a session; `more` are `user`, `parent`, `metadata`, `tags` and `started_at`."""
        body = given(name=name, collection=collection, agent=agent, key=key, **more)
        return self._connection.post(_SESSIONS, body)

    def page(
        self, *, limit: int | None = None, after: str | None = None, **filters: str | float | None
    ) -> Document:
        """A page of the sessions, newest first.

        `filters` are `q` (names, keys and texts), `agent`, `user`, `tool`, `kind`, `model`, `tag`, `status`, `since`, `until`,
        `min_cost` (USD) and `held` (`yes` or `no`); all of them must match.
        """
        return self._connection.get(_SESSIONS, {"limit": limit, "after": after, **filters})

    def every(self, *, limit: int | None = None, **filters: Any) -> Iterator[Document]:
        """Every session, newest first, or the first `limit`; `filters` are those of `page`."""
        size = LARGEST_PAGE if limit is None else min(limit, LARGEST_PAGE)
        return islice(every(lambda after: self.page(limit=size, after=after, **filters)), limit)

    def append(
        self, session: str, actions: Sequence[Document], *, idempotency_key: str | None = None
    ) -> list[int]:
        """Record up to 1,000 actions, all or none, and return their sequences. Repeated if the server is busy."""
        found: list[int] = self._connection.post(
            _path(session) + "/actions", {"actions": list(actions)}, idempotency_key=idempotency_key
        )["sequences"]
        return found

    def get(self, session: str) -> Document:
        """One session."""
        return self._connection.get(_path(session))

    def summary(self, session: str) -> Document:
        """Totals of a session, and separately the cost of judging its answers."""
        return self._connection.get(_path(session) + "/summary")

    def branches(self, session: str) -> Document:
        """All branches of the session's tree, each after its parent and with its depth."""
        return self._connection.get(_path(session) + "/branches")

    def totals(self, session: str, *, by: str = "kind", filter: str | None = None) -> Document:  # noqa: A002
        """Totals of the steps that match a filter (default: all), with rows by `kind`, `tool`, `model` or `agent`."""
        path = _path(session) + "/totals"
        query = {"by": by, "filter": filter, "limit": LARGEST_PAGE}
        found = self._connection.get(path, query)
        rows = every(lambda after: self._connection.get(path, query | {"after": after}) if after else found)
        return found | {"items": list(rows), "next": None}

    def do(self, session: str, verb: str, body: Document) -> Document:
        """Do `put`, `find` or `ask` in a session; the server records it."""
        return self._connection.post(f"{_path(session)}/{verb}", body)

    def end(self, session: str) -> Document:
        """End a session."""
        return self._connection.post(_path(session) + "/end")

    def delete(self, session: str, *, reason: str | None = None) -> Document:
        """Delete a session with everything it recorded; a reason stays in the project's log."""
        return self._connection.delete(_path(session), None if reason is None else {"reason": reason})

    def checkpoint(self, session: str, *, name: str, state: dict[str, Any] | None = None) -> Document:
        """Set a named point to resume from."""
        return self._connection.post(_path(session) + "/checkpoints", given(name=name, state=state))

    def resume(self, session: str, *, checkpoint: int | str | None = None) -> Document:
        """The state of the agent at a checkpoint (default: the last one); `parent` is for a session that continues from it."""
        return self._connection.post(_path(session) + "/resume", given(checkpoint=checkpoint))

    def actions(self, session: str) -> Iterator[Document]:
        """Every action of the session in order, with its complete content."""
        path = _path(session) + "/actions"
        return every(lambda after: self._connection.get(path, {"limit": LARGEST_PAGE, "after": after}))

    def action(self, session: str, sequence: int) -> Document:
        """One action with its complete content."""
        return self._connection.get(f"{_path(session)}/actions/{sequence}")

    def transcript(self, session: str, *, form: str = "json", **filters: Any) -> Document:
        """All or some turns of the session: `items` in the form `json`, or `messages` of a chat.

        `filters` are `significance`, `role`, `kind` and `tag` (one or several), `min_importance`, and `budget` in tokens; `turns` and
        `tokens` count what is included.
        """
        return self._connection.get(_path(session) + "/transcript", _query(filters) | {"as": form})

    def transcript_text(self, session: str, **filters: Any) -> str:
        """The same as text for a prompt, after a line with the counts."""
        return self._connection.text(_path(session) + "/transcript", _query(filters) | {"as": "text"})

    def weigh(self, session: str, sequence: int, **changes: Any) -> Document:
        """Set the `significance` or `importance` of a step without changing the record; None restores the recorded value."""
        return self._connection.patch(f"{_path(session)}/actions/{sequence}", changes)

    def proposals(self, session: str) -> Document:
        """Suggestions of rules for the significance of steps, with reasons."""
        return self._connection.get(_path(session) + "/proposals")

    def answer(self, session: str, sequence: int, rule: str, *, accept: bool) -> Document:
        """Accept or dismiss a suggestion."""
        answer = {"sequence": sequence, "rule": rule, "accept": accept}
        return self._connection.post(_path(session) + "/proposals", answer)

    def compression(self, session: str) -> Document:
        """The effect of compression, and whether the session is compressed."""
        return self._connection.get(_path(session) + "/compression")

    def compress(self, session: str) -> Document:
        """Lower the importance of exploratory turns of an ended session to 0.30."""
        return self._connection.post(_path(session) + "/compression", {})

    def undo_compression(self, session: str) -> Document:
        """Undo the compression: every turn has its earlier importance again."""
        return self._connection.delete(_path(session) + "/compression")

    def compress_older(self, days: int, *, preview: bool = False) -> Document:
        """Compress every session that ended at least this many days ago; with `preview` only count them."""
        return self._connection.post("/api/compressions", {"older_than_days": days, "preview": preview})

    def compression_rule(self, days: int | None) -> Document:
        """Compress sessions automatically this many days after they end; None turns this off."""
        return self._connection.put("/api/compressions/rule", {"days": days})

    def summarise(self, session: str, **how: Any) -> Document:
        """Store a summary in a `collection` (default: that of the session), written by `use_model` or quoted."""
        return self._connection.post(_path(session) + "/summaries", how)

    def export(self, session: str, target: Path | str, *, format: str | None = None) -> int:  # noqa: A002
        """Write the session to a file in a format (default: ours) and return the last sequence in it."""
        headers = self._connection.download(_path(session) + "/export", Path(target), {"format": format})
        return int(headers["Last-Sequence"])

    def compare(self, left: str, right: str, *, show: str = "all") -> Document:
        """Two sessions or replays, aligned: their totals and the pairs of steps that `show` selects."""
        found: Document = {}

        def page(after: str | None) -> Document:
            query = {"a": left, "b": right, "show": show, "limit": LARGEST_PAGE, "after": after}
            answer = self._connection.get("/api/compare", query)
            found.update({**answer, "items": []})
            return answer

        items = list(every(page))
        return {**found, "items": items, "next": None}


def _path(session: str) -> str:
    return f"{_SESSIONS}/{segment(session, 'session')}"


def _query(filters: dict[str, Any]) -> dict[str, Any]:
    return {
        name: given if given is None or isinstance(given, float | int | str) else ",".join(given)
        for name, given in filters.items()
    }
