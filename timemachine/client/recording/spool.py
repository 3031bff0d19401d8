"""The spool: a SQLite database with what a recorder has not delivered yet.

Each recorder (a `TimeMachine` in one process) writes a database of its own, so no process waits for another, and a forked child shares
none with its parent. It is in WAL mode: what is committed survives a process that is killed, and with `sync` a machine that loses its
power. A process holds SQLite's lock on its database while it has it open, and the system releases that lock when the process dies. So a
database that can be locked exclusively belongs to no process any more, and the next recorder takes it over.
"""

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from timemachine.client.recording.lines import END
from timemachine.client.recording.spool_database import (
    SUFFIX,
    VERSION,
    Busy,
    Damaged,
    connected,
    created,
    in_sqlite,
    locked,
    remove,
    rename_damaged,
)
from timemachine.core.pure.json_types import JsonObject

_STORED: Final = """
SELECT header, recordings.id, refused IS NOT NULL,
    count(*) FILTER (WHERE substr(line, 1, :size) != :end), min(place), max(place),
    CASE WHEN refused IS NULL THEN why ELSE (
        SELECT refused FROM lines WHERE recording = recordings.id AND refused IS NOT NULL ORDER BY place DESC LIMIT 1
    ) END
FROM recordings JOIN lines ON recording = recordings.id
GROUP BY recordings.id, refused IS NOT NULL ORDER BY recordings.id, refused IS NOT NULL
"""

_BEGINNINGS: Final = 3
_BEGIN_SECONDS: Final = 10.0  # after this time, a database without tables is from a killed process

type Row = tuple[int, bytes]
"""The place of a line in its recording, and the line."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The waiting or refused (`is_refused`) lines of a recording in a spool: the number of `actions`, from the place `first` to `last`.

    If only the end of a session waits, there are no actions. `why` is the last reason of the server, if any. `header` names the session,
    the server and the key.
    """

    path: Path
    header: JsonObject
    id: int
    is_refused: bool
    actions: int
    first: int
    last: int
    why: str | None


def spool_folder(chosen: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the spools: the one given, else `TIMEMACHINE_SPOOL`, else `timemachine/spool` in the user's state folder."""
    named = os.fspath(chosen or os.environ.get("TIMEMACHINE_SPOOL", "").strip())
    if named:
        return Path(named).expanduser().absolute()
    state = os.environ.get("XDG_STATE_HOME", "").strip()
    return (Path(state) if state else Path.home() / ".local" / "state") / "timemachine" / "spool"


def spools_in(folder: Path) -> list[Path]:
    """The databases in a folder, oldest first: their names begin with the time."""
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
    return []


class Spool:
    """One database. `kept` are the recordings with lines in it, each with whether these are refused.

    Methods raise `OSError` if the database cannot be read or written, and `Damaged` if it is corrupt.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, *, is_ours: bool = True) -> None:
        self.path = path
        self.kept: set[tuple[int, bool]] = set()
        self.has_tables = True
        self._is_ours = is_ours
        self._connection: sqlite3.Connection | None = connection
        self._damage: Damaged | None = None

    @classmethod
    def begin(cls, folder: Path, *, sync: bool = False) -> Self:
        """Create a database in a folder, readable only by its owner.

        Another process may look into the new file for an ended process's recordings and lock it; then it creates another.
        """
        for _ in range(_BEGINNINGS - 1):
            with suppress(Busy):
                return cls._begin(folder, sync=sync)
        return cls._begin(folder, sync=sync)

    @classmethod
    def _begin(cls, folder: Path, *, sync: bool) -> Self:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"{time.time_ns():016x}-{secrets.token_hex(4)}{SUFFIX}"
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            with in_sqlite():
                return cls(path, created(path, sync=sync))
        except OSError:
            remove(path)
            raise

    @classmethod
    def take_over(cls, path: Path) -> Self | None:
        """The database of an ended process, locked for us.

        None if a process has it or is creating it, if it is damaged (it is renamed), or if it is empty (it is removed).
        """
        found = path.stat()
        is_new = time.time() - found.st_mtime < _BEGIN_SECONDS
        if is_new and found.st_size == 0:
            return None  # a lock on it would make the process that is creating it fail
        try:
            with in_sqlite():
                connection = locked(path)
        except Damaged as why:
            rename_damaged(path, why)
            return None
        if connection is None:
            return None
        spool = cls(path, connection)
        try:
            spool.kept = {(each.id, each.is_refused) for each in spool.stored()}
        except Damaged:
            return None
        except OSError:
            spool.close(keep=True)
            raise
        if not spool.kept:
            spool.close(keep=not spool.has_tables and is_new)
            return None
        return spool

    @classmethod
    def look(cls, path: Path, **options: float) -> Self:
        """A database that a process can have open, to read it or to change refused lines, which the process does not touch."""
        with in_sqlite():
            return cls(path, connected(path, **options), is_ours=False)

    @property
    def is_closed(self) -> bool:
        """Whether it is closed."""
        return self._connection is None

    def stored(self) -> list[Stored]:
        """Its recordings in the order in which they were started."""
        with self._in_use() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            self.has_tables = version > 0
            if not self.has_tables:  # a process is creating them, or was killed before
                return []
            if version != VERSION:
                raise OSError(f"it was written by another version of the recorder ({version})")
            rows: list[Any] = connection.execute(_STORED, {"end": END, "size": len(END)}).fetchall()
            try:
                return [Stored(self.path, json.loads(header), *facts) for header, *facts in rows]
            except ValueError as why:
                raise Damaged(f"a recording in it cannot be read: {why}") from why

    def lines(
        self,
        recording: int,
        *,
        refused: bool = False,
        after: int = 0,
        most: int = -1,
        most_bytes: float = float("inf"),
    ) -> list[Row]:
        """The next waiting or refused lines: at most `most` lines and `most_bytes` bytes, but at least one if there is one."""
        rows: list[Row] = []
        with self._in_use() as connection:
            for place, line in connection.execute(
                "SELECT place, line FROM lines WHERE recording = ? AND place > ? AND (refused IS NOT NULL) = ?"
                " ORDER BY place LIMIT ?",
                (recording, after, refused, most),
            ):
                most_bytes -= len(line)
                if rows and most_bytes < 0:
                    break
                rows.append((place, line))
        return rows

    def add(
        self,
        recording: int | None,
        header: Mapping[str, Any],
        rows: Iterable[Row],
        refused: str | None = None,
    ) -> int:
        """Add lines to a recording, or to a new one, and return its id."""
        with self._transaction() as connection:
            if recording is None:
                row = connection.execute("INSERT INTO recordings (header) VALUES (?)", (json.dumps(header),))
                recording = row.lastrowid or 0
            connection.executemany(
                "INSERT INTO lines (recording, place, line, refused) VALUES (?, ?, ?, ?)",
                [(recording, place, line, refused) for place, line in rows],
            )
        self.kept.add((recording, refused is not None))
        return recording

    def settle(
        self,
        recording: int,
        delivered: Iterable[int],
        refused: Mapping[int, str],
        *,
        why: str | None = None,
        of_refused: bool = False,
    ) -> None:
        """Delete delivered lines (waiting, or `of_refused` ones), mark refused lines, and store `why` the others wait."""
        with self._transaction() as connection:
            connection.executemany(
                "DELETE FROM lines WHERE recording = ? AND place = ? AND (refused IS NOT NULL) = ?",
                [(recording, place, of_refused) for place in delivered],
            )
            connection.executemany(
                "UPDATE lines SET refused = ? WHERE recording = ? AND place = ?",
                [(reason, recording, place) for place, reason in refused.items()],
            )
            if not of_refused:
                connection.execute("UPDATE recordings SET why = ? WHERE id = ?", (why, recording))

    def close(self, *, keep: bool = False) -> None:
        """Close the database, and remove one of ours that is empty, unless `keep`."""
        with suppress(OSError), in_sqlite():
            connection, self._connection = self._connection, None
            if connection is None:
                return
            if self._is_ours and not self.kept and not keep:
                remove(self.path)
            elif self._is_ours:
                connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, False)  # noqa: FBT003
            connection.close()

    @contextmanager
    def _in_use(self) -> Iterator[sqlite3.Connection]:
        try:
            with in_sqlite():
                if self._connection is None:
                    raise self._damage or OSError("the spool is closed")
                yield self._connection
        except Damaged as why:
            if self._is_ours and self._damage is None:
                self._damage = why
                self.close(keep=True)
                rename_damaged(self.path, why)
            raise

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._in_use() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def waits_in(path: Path, recording: int) -> bool:
    """Whether lines of a recording wait in a database. While a process delivers them, the database is locked and the answer is True."""
    try:
        spool = Spool.look(path, seconds=0)
    except OSError:
        return path.exists()
    try:
        return bool(spool.lines(recording, most=1))
    except OSError:
        return path.exists()
    finally:
        spool.close()
