"""Training pairs of a server."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from timemachine.client.connection import Connection, Document

_PATH = "/api/training"


class Training:
    """Problems and what solved them, to train on. `asked` are `form` (`chat`, `dpo`), `what` (`resolution`, `chain`), `part` (`train`, `valid`,

    `test`), `seed`, `shares` (80, 10, 10), `redaction`, and of which sessions: `agent`, `user`, `tag`, `q`, `since`, `until`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def pairs(self, **asked: Any) -> Iterator[Document]:
        """Each pair as a document. They wait in a file until they are taken."""
        with TemporaryDirectory() as folder:
            target = Path(folder) / "pairs.jsonl"
            self._connection.download(_PATH, target, _written(asked))
            with target.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)

    def report(self, **asked: Any) -> Document:
        """How many pairs each part has, what was withheld, what was left out and why, and the first pairs."""
        return self._connection.get(f"{_PATH}/report", _written(asked))

    def write(self, target: Path, **asked: Any) -> int:
        """Write the pairs as JSON lines; how many bytes that is."""
        self._connection.download(_PATH, target, _written(asked))
        return target.stat().st_size


def _written(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked for, with shares that are numbers as the server reads them."""
    shares = asked.get("shares")
    if shares is None or isinstance(shares, str):
        return dict(asked)
    return {**asked, "shares": ",".join(str(each) for each in shares)}
