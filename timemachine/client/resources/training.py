"""Training pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from timemachine.client.generated import resources

if TYPE_CHECKING:
    from timemachine.client.generated import types
    from timemachine.core.pure.json_types import JsonObject


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
