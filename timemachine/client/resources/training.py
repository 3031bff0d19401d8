"""Training pairs."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from timemachine.client.connection import Document
from timemachine.client.resources.resource import Resource

_PATH = "/api/training"


class Training(Resource):
    """Problems and their solutions as training pairs.

    `options` are `form` (`chat`, `dpo`), `what` (`resolution`, `chain`), `part` (`train`, `valid`, `test`), `seed`, `shares` (80, 10,
    10), `redaction`, and the filters of sessions `agent`, `user`, `tag`, `q`, `since`, `until`.
    """

    def pairs(self, **options: Any) -> Iterator[Document]:
        """Each pair as a document, read from a temporary file."""
        with TemporaryDirectory() as folder:
            target = Path(folder) / "pairs.jsonl"
            self._connection.download(_PATH, target, _query(options))
            with target.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)

    def report(self, **options: Any) -> Document:
        """The number of pairs of each part, what was withheld or left out and why, and the first pairs."""
        return self._connection.get(f"{_PATH}/report", _query(options))

    def write(self, target: Path, **options: Any) -> int:
        """Write the pairs as JSON lines and return the size in bytes."""
        self._connection.download(_PATH, target, _query(options))
        return target.stat().st_size


def _query(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, with numeric shares as text."""
    shares = options.get("shares")
    if shares is None or isinstance(shares, str):
        return dict(options)
    return {**options, "shares": ",".join(str(each) for each in shares)}
