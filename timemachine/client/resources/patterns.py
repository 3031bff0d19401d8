"""Patterns of a server: the same error or question in several sessions, what solved it, and the rules that watch for it."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from timemachine.client.connection import Connection, Document, segment
from timemachine.client.pages import LARGEST_PAGE, every

_LONGEST: Final = 32 * 1024
_LONGEST_IN_ADDRESS: Final = 60_000


class Patterns:
    """List and read patterns, ask which one a step or a text is like; make rules, and read what they found."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, **wanted: Any) -> Document:
        """One page of the project's patterns, the one that was seen last first, `next` for the one after it.

        `wanted` are `kind` (`error`, `question`), `q`, `since`, `solved` (`yes`, `no`), `min_sessions`, `limit`, `after`.
        """
        return self._connection.get("/api/patterns", wanted)

    def every(self, **wanted: Any) -> Iterator[Document]:
        """All of them, page by page."""
        return every(lambda after: self.page(**wanted, limit=LARGEST_PAGE, after=after))

    def similar(
        self, place: str | None = None, *, text: str | None = None, kind: str | None = None
    ) -> Document:
        """The patterns that a step (`SESSION:STEP`) or a text is like, each with what solved it in another session, or null.

        Of a long text the first 32 KB are asked about, fewer where an address writes its characters much longer.
        """
        asked = {"similar_to": place, "text": text and _cut(text), "kind": kind}
        return self._connection.get("/api/patterns", asked)

    def get(self, pattern: str, *, limit: int | None = None, after: str | None = None) -> Document:
        """A pattern with its wordings, and its sessions page by page: in which steps, and what solved it there."""
        return self._connection.get(
            f"/api/patterns/{segment(pattern, 'pattern')}", {"limit": limit, "after": after}
        )

    def rules(self) -> list[Document]:
        """The rules by which a pattern is worth telling."""
        found: list[Document] = self._connection.get("/api/patterns/rules")["items"]
        return found

    def add_rule(self, sessions: int, window: str, *, kind: str | None = None, url: str = "") -> Document:
        """Watch for patterns that come again in so many sessions of one `day`, `week` or `month`."""
        body = {"sessions": sessions, "window": window, "kind": kind, "url": url}
        return self._connection.post("/api/patterns/rules", body)

    def delete_rule(self, rule: str) -> Document:
        """Take a rule away, with what it found."""
        return self._connection.delete(f"/api/patterns/rules/{segment(rule, 'rule')}")

    def alerts(self, *, limit: int | None = None, after: str | None = None) -> Document:
        """One page of what rules found, the latest first."""
        return self._connection.get("/api/patterns/alerts", {"limit": limit, "after": after})

    def put_aside(self, alert: str) -> Document:
        """Say that somebody has seen an alert."""
        return self._connection.post(f"/api/patterns/alerts/{segment(alert, 'alert')}/seen")


def _cut(text: str) -> str:
    cut = text[:_LONGEST]
    while len(quote(cut, errors="replace")) > _LONGEST_IN_ADDRESS:
        cut = cut[: len(cut) * 3 // 4]
    return cut
