"""Calls that are still running, in a SQLite file next to the spools, so that those of a killed proxy are not lost.

The file is locked as long as its process lives, like a spool. The next proxy takes over those that nobody locks.
"""

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from timemachine.client.recording.spool_database import created, in_sqlite, locked, remove
from timemachine.core.pure.json_types import JsonObject

SUFFIX: Final = ".calls"
_BEGIN_SECONDS: Final = 10.0

type Left = tuple[JsonObject, list[JsonObject]]
"""The session of a call, and its steps as they are if it was not answered."""


class RunningCalls:
    """The calls of this process that are still running. Methods raise `OSError` if the file cannot be written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path: Path | None = None
        self._connection: sqlite3.Connection | None = None

    def note(self, session: JsonObject, steps: list[JsonObject]) -> int:
        """Store a running call; returns its number."""
        values = json.dumps(session), json.dumps(steps).encode()
        with in_sqlite():
            connection = self._opened()
            connection.execute("BEGIN")
            number = connection.execute("INSERT INTO recordings (header) VALUES (?)", values[:1]).lastrowid
            connection.execute("INSERT INTO lines VALUES (?, 1, ?, NULL)", (number, values[1]))
            connection.execute("COMMIT")
        return number or 0

    def forget(self, number: int) -> None:
        """Remove a call that was recorded."""
        with in_sqlite():
            connection = self._opened()
            connection.execute("DELETE FROM lines WHERE recording = ?", (number,))
            connection.execute("DELETE FROM recordings WHERE id = ?", (number,))

    def close(self) -> None:
        """Remove the file."""
        if self._connection is not None and self._path is not None:
            self._connection.close()
            remove(self._path)
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = self._folder / f"{time.time_ns():016x}-{secrets.token_hex(4)}{SUFFIX}"
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            self._path, self._connection = path, created(path, sync=False)
        return self._connection


def left_in(folder: Path) -> Iterator[Left]:
    """Yield the calls that were running when their processes ended. Each file is removed after its last call.

    Raises `OSError` if a file cannot be read.
    """
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        if time.time() - path.stat().st_mtime < _BEGIN_SECONDS and path.stat().st_size == 0:
            continue  # its process is creating it
        with in_sqlite():
            connection = locked(path)
        if connection is None:
            continue
        with closing(connection):
            with in_sqlite():
                rows = connection.execute(
                    "SELECT header, line FROM recordings JOIN lines ON recording = id ORDER BY id"
                ).fetchall()
            yield from ((json.loads(session), json.loads(steps)) for session, steps in rows)
        remove(path)
