"""The contents of the spools in a folder, readable even while a recorder writes them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from timemachine.client.recording.outbox import header_of
from timemachine.client.recording.spool import Spool, spools_in


def waiting(folder: Path) -> list[bytes]:
    """The waiting lines, in order."""
    return [line for (line,) in _selected(folder, "line", "refused IS NULL")]


def refused(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """The refused actions with their reasons, in order."""
    return [
        (why, json.loads(line)) for why, line in _selected(folder, "refused, line", "refused IS NOT NULL")
    ]


def recorded_before(folder: Path, key: str, *lines: bytes, **facts: Any) -> Path:
    """A spool left by an ended process, with these lines in its only session."""
    spool = Spool.begin(folder)
    header = header_of({"key": key, "name": key.title()}, url=None, key_id=None) | facts
    spool.add(None, header, enumerate(lines, 1))
    spool.close()
    return spool.path


def _selected(folder: Path, what: str, which: str) -> list[Any]:
    return [line for path in spools_in(folder) for line in _selected_in(path, what, which)]


def _selected_in(path: Path, what: str, which: str) -> list[Any]:
    """The lines of a spool; none if a recorder makes it at this moment, or deletes it because all of them were delivered."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as connection:
            return connection.execute(
                f"SELECT {what} FROM lines WHERE {which} ORDER BY recording, place"
            ).fetchall()
    except sqlite3.OperationalError as why:
        if path.exists() and "no such table" not in str(why):
            raise
        return []
