"""Recurring errors and questions, what solved them, and the rules that raise alerts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote

from timemachine.client.generated import resources
from timemachine.client.pages import LARGEST_PAGE, every

if TYPE_CHECKING:
    from timemachine.client.generated import types

_LONGEST: Final = 32 * 1024
_LONGEST_IN_URL: Final = 60_000


class Patterns(resources.Patterns):
    """List and read patterns, find similar ones, manage rules and read alerts."""

    def page(self, **filters: Any) -> types.PatternPage:
        """A page of the patterns, the most recently seen first.

        `filters` are `kind` (`error`, `question`), `q`, `since`, `solved` (`yes`, `no`), `min_sessions`, `limit`, `after`.
        """
        return cast("types.PatternPage", self._page(**filters))

    def every(self, **filters: Any) -> Iterator[types.PatternOut]:
        """All patterns."""
        return every(lambda after: self.page(**filters, limit=LARGEST_PAGE, after=after))

    def similar(
        self, place: str | None = None, *, text: str | None = None, kind: str | None = None
    ) -> types.SimilarPatterns:
        """The patterns that resemble a step (`SESSION:STEP`) or a text, each with what solved it in another session, or null.

        Of a long text only the beginning is used: at most 32 KB, and what fits into a URL.
        """
        return cast(
            "types.SimilarPatterns", self._page(similar_to=place, text=text and _cut(text), kind=kind)
        )

    def rules(self) -> list[types.PatternRuleOut]:
        """The rules that raise alerts."""
        return self._rules()["items"]


def _cut(text: str) -> str:
    cut = text[:_LONGEST]
    while len(quote(cut, errors="replace")) > _LONGEST_IN_URL:
        cut = cut[: len(cut) * 3 // 4]
    return cut
