"""Recurring errors and questions, what solved them, and the rules that raise alerts."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from timemachine.client.connection import Document, segment
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.resources.resource import Resource

_LONGEST: Final = 32 * 1024
_LONGEST_IN_URL: Final = 60_000


class Patterns(Resource):
    """List and read patterns, find similar ones, manage rules and read alerts."""

    def page(self, **filters: Any) -> Document:
        """A page of the patterns, the most recently seen first.

        `filters` are `kind` (`error`, `question`), `q`, `since`, `solved` (`yes`, `no`), `min_sessions`, `limit`, `after`.
        """
        return self._connection.get("/api/patterns", filters)

    def every(self, **filters: Any) -> Iterator[Document]:
        """All patterns."""
        return every(lambda after: self.page(**filters, limit=LARGEST_PAGE, after=after))

    def similar(
        self, place: str | None = None, *, text: str | None = None, kind: str | None = None
    ) -> Document:
        """The patterns that resemble a step (`SESSION:STEP`) or a text, each with what solved it in another session, or null.

        Of a long text only the beginning is used: at most 32 KB, and what fits into a URL.
        """
        query = {"similar_to": place, "text": text and _cut(text), "kind": kind}
        return self._connection.get("/api/patterns", query)

    def get(self, pattern: str, *, limit: int | None = None, after: str | None = None) -> Document:
        """A pattern with its wordings, and a page of its sessions with steps and solutions."""
        return self._connection.get(
            f"/api/patterns/{segment(pattern, 'pattern')}", {"limit": limit, "after": after}
        )

    def rules(self) -> list[Document]:
        """The rules that raise alerts."""
        found: list[Document] = self._connection.get("/api/patterns/rules")["items"]
        return found

    def add_rule(self, sessions: int, window: str, *, kind: str | None = None, url: str = "") -> Document:
        """Raise an alert if a pattern occurs in this many sessions of one `day`, `week` or `month`."""
        body = {"sessions": sessions, "window": window, "kind": kind, "url": url}
        return self._connection.post("/api/patterns/rules", body)

    def delete_rule(self, rule: str) -> Document:
        """Delete a rule and its alerts."""
        return self._connection.delete(f"/api/patterns/rules/{segment(rule, 'rule')}")

    def alerts(self, *, limit: int | None = None, after: str | None = None) -> Document:
        """A page of the alerts, newest first."""
        return self._connection.get("/api/patterns/alerts", {"limit": limit, "after": after})

    def dismiss(self, alert: str) -> Document:
        """Dismiss an alert."""
        return self._connection.post(f"/api/patterns/alerts/{segment(alert, 'alert')}/seen")


def _cut(text: str) -> str:
    cut = text[:_LONGEST]
    while len(quote(cut, errors="replace")) > _LONGEST_IN_URL:
        cut = cut[: len(cut) * 3 // 4]
    return cut
