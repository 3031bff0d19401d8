"""Sessions of a server."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from timemachine.client.connection import Connection, Document, given, segment
from timemachine.client.pages import LARGEST_PAGE, every

_SESSIONS = "/api/sessions"


class Sessions:
    """Start, read, end and delete sessions; every id is a uuid or a key."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def start(
        self,
        *,
        name: str,
        collection: str | None = None,
        agent: str | None = None,
        key: str | None = None,
        **more: Any,
    ) -> Document:
        """A new session that records; `more` are `user`, `parent`, `metadata`, `tags` and `started_at`."""
        body = given(name=name, collection=collection, agent=agent, key=key, **more)
        return self._connection.post(_SESSIONS, body)

    def page(
        self, *, limit: int | None = None, after: str | None = None, **wanted: str | float | None
    ) -> Document:
        """One page of the list, newest first: `items`, and `next` for the page after it.

        `wanted` are `q` (names, keys and what steps say), `agent`, `user`, `tool`, `kind`, `model`, `tag`, `status`, `since`, `until`,
        `min_cost` (USD) and `held` (`yes` or `no`); all that are given hold.
        """
        return self._connection.get(_SESSIONS, {"limit": limit, "after": after, **wanted})

    def every(self, *, limit: int | None = None, **wanted: Any) -> Iterator[Document]:
        """Every session of the list, newest first, or the first `limit`, however many pages that takes; `wanted` as of `page`."""
        size = LARGEST_PAGE if limit is None else min(limit, LARGEST_PAGE)
        return islice(every(lambda after: self.page(limit=size, after=after, **wanted)), limit)

    def append(
        self, session: str, actions: Sequence[Document], *, idempotency_key: str | None = None
    ) -> list[int]:
        """Record up to 1,000 actions, all or none; their sequences. A busy server, which recorded nothing, is asked again."""
        found: list[int] = self._connection.post(
            _path(session) + "/actions", {"actions": list(actions)}, idempotency_key=idempotency_key
        )["sequences"]
        return found

    def get(self, session: str) -> Document:
        """One session."""
        return self._connection.get(_path(session))

    def summary(self, session: str) -> Document:
        """What a session adds up to, and beside it what was spent on judging its answers."""
        return self._connection.get(_path(session) + "/summary")

    def branches(self, session: str) -> Document:
        """The sessions that it went on from and that went on from those, each after its parent, with how deep it stands."""
        return self._connection.get(_path(session) + "/branches")

    def totals(self, session: str, *, by: str = "kind", filter: str | None = None) -> Document:  # noqa: A002
        """What the steps of a filter add up to (all without one), with every row by `kind`, `tool`, `model` or `agent`."""
        path = _path(session) + "/totals"
        query = {"by": by, "filter": filter, "limit": LARGEST_PAGE}
        found = self._connection.get(path, query)
        rows = every(lambda after: self._connection.get(path, query | {"after": after}) if after else found)
        return found | {"items": list(rows), "next": None}

    def do(self, session: str, verb: str, body: Document) -> Document:
        """`put`, `find` or `ask` in a session, recorded by the server."""
        return self._connection.post(f"{_path(session)}/{verb}", body)

    def end(self, session: str) -> Document:
        """Close a session."""
        return self._connection.post(_path(session) + "/end")

    def delete(self, session: str, *, reason: str | None = None) -> Document:
        """Delete a session with everything it recorded; a reason stays in the project's log."""
        return self._connection.delete(_path(session), None if reason is None else {"reason": reason})

    def checkpoint(self, session: str, *, name: str, state: dict[str, Any] | None = None) -> Document:
        """Set a named point to resume from."""
        return self._connection.post(_path(session) + "/checkpoints", given(name=name, state=state))

    def resume(self, session: str, *, checkpoint: int | str | None = None) -> Document:
        """What the agent knew at a checkpoint (the last one without a sequence or name); `parent` is for a session that goes on."""
        return self._connection.post(_path(session) + "/resume", given(checkpoint=checkpoint))

    def actions(self, session: str) -> Iterator[Document]:
        """Every action of the session in its order, whole."""
        path = _path(session) + "/actions"
        return every(lambda after: self._connection.get(path, {"limit": LARGEST_PAGE, "after": after}))

    def action(self, session: str, sequence: int) -> Document:
        """One action, whole."""
        return self._connection.get(f"{_path(session)}/actions/{sequence}")

    def transcript(self, session: str, *, form: str = "json", **asked: Any) -> Document:
        """The session told again, whole or in part: as `json` its turns are `items`, as `messages` of a chat `messages`.

        `asked` are `significance`, `role`, `kind` and `tag` (a word or several), `min_importance`, and `budget` in tokens; `turns` and `tokens`
        say how many of those recorded are told.
        """
        return self._connection.get(_path(session) + "/transcript", _told(asked) | {"as": form})

    def transcript_text(self, session: str, **asked: Any) -> str:
        """The same as words for a prompt, behind a line that says how much of the session that is."""
        return self._connection.text(_path(session) + "/transcript", _told(asked) | {"as": "text"})

    def weigh(self, session: str, sequence: int, **said: Any) -> Document:
        """Say `significance` or `importance` of an action beside the record; None goes back to what was recorded."""
        return self._connection.patch(f"{_path(session)}/actions/{sequence}", said)

    def proposals(self, session: str) -> Document:
        """The significance that rules propose for steps, each with its reason."""
        return self._connection.get(_path(session) + "/proposals")

    def answer(self, session: str, sequence: int, rule: str, *, accept: bool) -> Document:
        """Say yes or no to a proposal."""
        answer = {"sequence": sequence, "rule": rule, "accept": accept}
        return self._connection.post(_path(session) + "/proposals", answer)

    def compression(self, session: str) -> Document:
        """What compressing the session does or did, and whether it is compressed."""
        return self._connection.get(_path(session) + "/compression")

    def compress(self, session: str) -> Document:
        """Let exploratory turns of an ended session count 0.30."""
        return self._connection.post(_path(session) + "/compression", {})

    def undo_compression(self, session: str) -> Document:
        """Let every turn count again what it counted before."""
        return self._connection.delete(_path(session) + "/compression")

    def compress_older(self, days: int, *, preview: bool = False) -> Document:
        """Compress every session that ended so many days ago or more; with `preview` only say how many there are."""
        return self._connection.post("/api/compressions", {"older_than_days": days, "preview": preview})

    def compression_rule(self, days: int | None) -> Document:
        """Compress sessions by themselves so many days after their end; None for never."""
        return self._connection.put("/api/compressions/rule", {"days": days})

    def summarise(self, session: str, **how: Any) -> Document:
        """Put a summary into a `collection`, the session's own where none is named, written by `use_model`."""
        return self._connection.post(_path(session) + "/summaries", how)

    def export(self, session: str, target: Path | str, *, format: str | None = None) -> int:  # noqa: A002
        """Write the session as a file of that format, our own without one; the last sequence that is in it."""
        told = self._connection.download(_path(session) + "/export", Path(target), {"format": format})
        return int(told["Last-Sequence"])

    def compare(self, left: str, right: str, *, show: str = "all") -> Document:
        """Two sessions or replays, aligned: their totals and every pair of their steps that `show` asks for."""
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


def _told(asked: dict[str, Any]) -> dict[str, Any]:
    return {
        name: given if given is None or isinstance(given, float | int | str) else ",".join(given)
        for name, given in asked.items()
    }
