"""The spool: a SQLite database with what a recorder has not delivered yet.

Each recorder (a `TimeMachine` in one process) writes a database of its own, so no process waits for another, and a forked child shares
none with its parent. The database is in WAL mode: what is committed survives a process that is killed, and with `sync` a machine that
loses its power. A process holds SQLite's lock on its database for as long as it has it open, and the system releases that lock when the
process dies. So a database that can be locked exclusively belongs to no process any more, and the next recorder takes it over.
"""

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from timemachine.client.recording.lines import END
from timemachine.client.recording.spool_database import (
    SUFFIX,
    VERSION,
    Damaged,
    connected,
    created,
    in_sqlite,
    locked,
    remove,
    set_aside,
)

_STORED: Final = """
SELECT header, recordings.id, why, count(*) > count(refused),
    count(*) FILTER (WHERE refused IS NULL AND substr(line, 1, :size) != :end),
    coalesce(min(place) FILTER (WHERE refused IS NULL) - 1, max(place)), max(place), count(refused),
    (SELECT refused FROM lines WHERE recording = recordings.id AND refused IS NOT NULL ORDER BY place DESC LIMIT 1)
FROM recordings JOIN lines ON recording = recordings.id GROUP BY recordings.id ORDER BY recordings.id
"""
_MOST_FREE_PAGES: Final = 4_096  # of 4 KiB, that stay allocated once everything is delivered

type Row = tuple[int, bytes]
"""A line and its place in its recording."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A recording in a spool. So many `actions` of it wait (it also `waits` where only its end does), and so many were `refused`.

    Lines up to the place `settled` no longer wait; `last` is the last place. `why` is the reason why it waits, where one is known,
    `refused_why` that of the last refusal.
    """

    header: dict[str, Any]
    id: int
    why: str | None
    waits: bool
    actions: int
    settled: int
    last: int
    refused: int
    refused_why: str | None


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
    """One database. `kept` are the ids of the recordings that still have lines in it.

    Every method raises `OSError` where the database cannot be read or written, and `Damaged` where it is not one any more.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, *, is_ours: bool = True) -> None:
        self.path = path
        self.kept: set[int] = set()
        self._is_ours = is_ours
        self._connection: sqlite3.Connection | None = connection
        self._damage: Damaged | None = None

    @classmethod
    def begin(cls, folder: Path, *, sync: bool = False) -> Self:
        """A new database in a folder, which only its owner can read."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        while True:
            path = folder / f"{time.time_ns():016x}-{secrets.token_hex(4)}{SUFFIX}"
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            try:
                with in_sqlite():
                    spool = cls(path, created(path, sync=sync))
            except OSError:
                if path.exists():
                    remove(path)
                    raise
            else:
                if path.exists():
                    return spool
                spool.release()
            # a recorder that looked before it was locked took it for one that nobody has, and removed it

    @classmethod
    def take_over(cls, path: Path) -> Self | None:
        """The database of a process that has ended, locked for us alone.

        None where a process has it, where it is damaged (it is set aside), and where nothing is in it (it is removed).
        """
        try:
            with in_sqlite():
                connection = locked(path)
        except Damaged as why:
            set_aside(path, why)
            return None
        if connection is None:
            return None
        spool = cls(path, connection)
        try:
            spool.kept = {each.id for each in spool.recordings()}
        except OSError:
            spool.release()
            raise
        if not spool.kept:
            spool.close()
            return None
        return spool

    @classmethod
    def look(cls, path: Path, **options: float) -> Self:
        """A database that a process may have, to read it, or to change what was refused, which the process leaves alone."""
        with in_sqlite():
            return cls(path, connected(path, **options), is_ours=False)

    @property
    def is_closed(self) -> bool:
        """Whether it was let go of."""
        return self._connection is None

    def recordings(self) -> list[Stored]:
        """The recordings that have lines in it, in the order in which they were begun."""
        with self._alone() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == 0:  # a process was killed before it had made its tables
                return []
            if version != VERSION:
                raise OSError(f"it was written by another version of the recorder ({version})")
            rows: list[Any] = connection.execute(_STORED, {"end": END, "size": len(END)}).fetchall()
            try:
                return [Stored(json.loads(header), *facts) for header, *facts in rows]
            except ValueError as why:
                raise Damaged(f"a recording in it cannot be read: {why}") from why

    def lines(self, recording: int, *, refused: bool) -> list[Row]:
        """The lines of a recording that were refused, or those that wait."""
        with self._alone() as connection:
            return connection.execute(
                "SELECT place, line FROM lines WHERE recording = ? AND (refused IS NOT NULL) = ? ORDER BY place",
                (recording, refused),
            ).fetchall()

    def waiting(self, recording: int, after: int, *, most: int, most_bytes: int) -> list[Row]:
        """The next lines that wait: at most so many, of at most so many bytes in all, but one where there is one."""
        rows: list[Row] = []
        with self._alone() as connection:
            for place, line in connection.execute(
                "SELECT place, line FROM lines WHERE recording = ? AND place > ? AND refused IS NULL ORDER BY place LIMIT ?",
                (recording, after, most),
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
        """Add lines to a recording, or to a new one; its id."""
        with self._transaction() as connection:
            if recording is None:
                begun = connection.execute(
                    "INSERT INTO recordings (header) VALUES (?)", (json.dumps(header),)
                )
                recording = begun.lastrowid or 0
            connection.executemany(
                "INSERT INTO lines (recording, place, line, refused) VALUES (?, ?, ?, ?)",
                [(recording, place, line, refused) for place, line in rows],
            )
        self.kept.add(recording)
        return recording

    def settle(self, recording: int, up_to: int, refused: Mapping[int, str]) -> None:
        """Delete the lines up to a place, but for those that were refused, which stay with the reason."""
        with self._transaction() as connection:
            self._refuse(connection, recording, refused)
            connection.execute(
                "DELETE FROM lines WHERE recording = ? AND place <= ? AND refused IS NULL", (recording, up_to)
            )

    def replace(self, recording: int, gone: Collection[int], refused: Mapping[int, str]) -> None:
        """Delete the lines at some places, and keep those at others with the reason why they were refused."""
        with self._transaction() as connection:
            self._refuse(connection, recording, refused)
            connection.executemany(
                "DELETE FROM lines WHERE recording = ? AND place = ?",
                [(recording, place) for place in gone],
            )
            has_lines = connection.execute("SELECT 1 FROM lines WHERE recording = ?", (recording,)).fetchone()
        if not has_lines:
            self.kept.discard(recording)

    def note(self, recording: int, why: str | None) -> None:
        """Keep the reason why a recording waits, or that there is none."""
        with self._transaction() as connection:
            connection.execute("UPDATE recordings SET why = ? WHERE id = ?", (why, recording))

    def forget(self, recording: int) -> None:
        """Delete a recording that has no lines, and give the space of what was delivered back to the system where that is much."""
        with self._transaction() as connection:
            connection.execute(
                "DELETE FROM recordings WHERE id = ? AND id NOT IN (SELECT recording FROM lines)",
                (recording,),
            )
        if not self.kept:
            with self._alone() as connection:
                if connection.execute("PRAGMA freelist_count").fetchone()[0] > _MOST_FREE_PAGES:
                    connection.execute("PRAGMA incremental_vacuum").fetchall()

    def close(self) -> None:
        """Let go of the database; one of ours in which nothing is kept is removed."""
        if self._is_ours and not self.kept and not self.is_closed:
            remove(self.path)
        self.release(checkpoint=self._is_ours and bool(self.kept))

    def release(self, *, checkpoint: bool = False) -> None:
        """Close the connection; after a `checkpoint` everything is in one file."""
        with suppress(OSError), in_sqlite():
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, not checkpoint)
                connection.close()

    def _refuse(self, connection: sqlite3.Connection, recording: int, refused: Mapping[int, str]) -> None:
        connection.executemany(
            "UPDATE lines SET refused = ? WHERE recording = ? AND place = ?",
            [(why, recording, place) for place, why in refused.items()],
        )

    @contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        try:
            with in_sqlite():
                if self._connection is None:
                    raise self._damage or OSError("the spool is closed")
                yield self._connection
        except Damaged as why:
            if self._is_ours and self._damage is None:
                self._damage = why
                self.release()
                set_aside(self.path, why)
            raise

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._alone() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def waits_in(path: Path, recording: int) -> bool:
    """Whether lines of a recording wait in a database; while somebody delivers them it is locked, and they are taken to wait."""
    try:
        spool = Spool.look(path, seconds=0)
    except OSError:
        return path.exists()
    try:
        return bool(spool.waiting(recording, 0, most=1, most_bytes=0))
    except OSError:
        return path.exists()
    finally:
        spool.release()
