"""Sessions: read them completely, export and compare them; their patterns and training pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote

from timemachine.client.connection import segment
from timemachine.client.generated import resources
from timemachine.client.pages import LARGEST_PAGE, every, whole

if TYPE_CHECKING:
    from timemachine.client.generated import types
    from timemachine.core.pure.json_types import JsonObject

_LONGEST: Final = 32 * 1024
_LONGEST_IN_URL: Final = 60_000


class Sessions(resources.Sessions):
    """Start, read, end and delete sessions; a session is an id or a key."""

    def every(self, *, limit: int | None = None, **filters: Any) -> Iterator[types.SessionOut]:
        """Every session, newest first, or the first `limit`; `filters` are those of `page`."""
        size = LARGEST_PAGE if limit is None else min(limit, LARGEST_PAGE)
        return islice(every(lambda after: self.page(limit=size, after=after, **filters)), limit)

    def append(
        self, session: str, actions: Sequence[types.ActionIn], *, idempotency_key: str | None = None
    ) -> list[int]:
        """Record up to 1,000 actions, all or none, and return their sequences. Repeated if the server is busy."""
        return self._append(session, actions=actions, idempotency_key=idempotency_key)["sequences"]

    def totals(self, session: str, *, by: str = "kind", filter: str | None = None) -> types.TotalsOut:  # noqa: A002
        """Totals of the steps that match a filter (default: all), with rows by `kind`, `tool`, `model` or `agent`."""
        return whole(
            lambda after: self._totals(session, by=by, filter=filter, limit=LARGEST_PAGE, after=after)
        )

    def do(self, session: str, verb: str, body: JsonObject) -> Any:
        """Do `put`, `find` or `ask` in a session; the server records it."""
        return self._connection.post(f"/api/sessions/{segment(session, 'session')}/{verb}", body)

    def transcript(
        self, session: str, *, form: str = "json", **filters: Any
    ) -> types.TranscriptOut | types.TranscriptMessages:
        """All or some turns of the session: `items` in the form `json`, or `messages` of a chat.

        `filters` are `significance`, `role`, `kind` and `tag` (one or several), `min_importance`, and `budget` in tokens; `turns` and
        `tokens` count what is included.
        """
        return self._transcript(session, as_=form, **_joined(filters))

    def transcript_text(self, session: str, **filters: Any) -> str:
        """The same as text for a prompt, after a line with the counts."""
        path = f"/api/sessions/{segment(session, 'session')}/transcript"
        return self._connection.text(path, _joined(filters) | {"as": "text"})

    def export(self, session: str, target: Path | str, *, format: str | None = None) -> int:  # noqa: A002
        """Write the session to a file in a format (default: ours) and return the last sequence in it."""
        return int(self._export(session, Path(target), format=format)["Last-Sequence"])

    def compare(self, left: str, right: str, *, show: str = "all") -> types.AlignmentOut:
        """Two sessions or replays, aligned: their totals and the pairs of steps that `show` selects."""
        return whole(lambda after: self._compare(left, right, show=show, limit=LARGEST_PAGE, after=after))


def _joined(filters: JsonObject) -> JsonObject:
    """The filters with lists as one text."""
    return {
        name: value if value is None or isinstance(value, float | int | str) else ",".join(value)
        for name, value in filters.items()
    }


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

        Only the beginning of a long text is used: at most 32 KB, and what fits into a URL.
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


class Training(resources.Training):
    """Problems and their solutions as training pairs.

    `options` are `form` (`chat`, `dpo`), `what` (`resolution`, `chain`), `part` (`train`, `valid`, `test`), `seed`, `shares` (80, 10,
    10), `redaction`, and the filters of sessions `agent`, `user`, `tag`, `q`, `since`, `until`.
    """

    def pairs(self, **options: Any) -> Iterator[JsonObject]:
        """Each pair as a document, read from a temporary file."""
        with TemporaryDirectory() as folder:
            target = Path(folder) / "pairs.jsonl"
            self.write(target, **options)
            with target.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)

    def report(self, **options: Any) -> types.TrainingReport:
        """The number of pairs of each part, what was withheld or left out and why, and the first pairs."""
        return self._report(**_with_text_shares(options))

    def write(self, target: Path, **options: Any) -> int:
        """Write the pairs as JSON lines and return the size in bytes."""
        self._pairs(target, **_with_text_shares(options))
        return target.stat().st_size


def _with_text_shares(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options, with numeric shares as text."""
    shares = options.get("shares")
    if shares is None or isinstance(shares, str):
        return options
    return {**options, "shares": ",".join(str(each) for each in shares)}
