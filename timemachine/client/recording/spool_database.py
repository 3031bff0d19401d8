"""The SQLite file of a spool: create, lock, rename if damaged, remove."""

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

SUFFIX: Final = ".spool"
DAMAGED: Final = ".damaged"
SQLITE_SUFFIXES: Final = ("-wal", "-shm")
"""The suffixes of the other files that SQLite keeps for a database."""
VERSION: Final = 1
_SCHEMA: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE recordings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    header TEXT NOT NULL,
    why TEXT  -- the reason why it waits, if known
);
CREATE TABLE lines (
    recording INTEGER NOT NULL REFERENCES recordings,
    place INTEGER NOT NULL,
    line BLOB NOT NULL,
    refused TEXT,  -- why; NULL while it waits
    PRIMARY KEY (recording, place)
);
PRAGMA user_version = {VERSION};
COMMIT;
"""
_BUSY_SECONDS: Final = 1.0
_LARGEST_WAL: Final = 16 * 1024 * 1024  # bytes that stay allocated

_lock = threading.Lock()


class Damaged(OSError):
    """The file of a spool is corrupt."""


class Busy(OSError):
    """Another process has the spool locked."""


_KINDS: Final[dict[int, type[OSError]]] = {
    sqlite3.SQLITE_CORRUPT: Damaged,
    sqlite3.SQLITE_NOTADB: Damaged,
    sqlite3.SQLITE_BUSY: Busy,
}


@contextmanager
def in_sqlite() -> Iterator[None]:
    """Use SQLite on one thread at a time, so that none is inside SQLite during a fork. Its errors become `OSError`."""
    with _lock:
        try:
            yield
        except sqlite3.Error as why:
            raise _KINDS.get(_code(why), OSError)(str(why)) from why


def lock() -> threading.Lock:
    """The lock to hold during a fork."""
    return _lock


def forked() -> None:
    """Use a new lock in a forked child: the thread that held the old one does not exist there."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()


def created(path: Path, *, sync: bool) -> sqlite3.Connection:
    """Create the tables in an empty file. With `sync`, committed data survives a power failure."""
    connection = connected(path)
    try:
        connection.execute(f"PRAGMA synchronous = {'FULL' if sync else 'OFF'}")
        connection.execute("PRAGMA auto_vacuum = FULL")  # delivered lines free their space
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute(f"PRAGMA journal_size_limit = {_LARGEST_WAL}")
        connection.executescript(_SCHEMA)
        if not sync:
            connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    if mode != "wal":
        connection.close()
        raise OSError("SQLite has no write-ahead log on this file system")
    return connection


def locked(path: Path) -> sqlite3.Connection | None:
    """An exclusive connection; None if another process has one."""
    connection = connected(path, seconds=0)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
    except BaseException as why:
        connection.close()
        if isinstance(why, sqlite3.Error) and _code(why) == sqlite3.SQLITE_BUSY:
            return None
        raise
    return connection


def connected(path: Path, *, seconds: float = _BUSY_SECONDS) -> sqlite3.Connection:
    """A connection that waits `seconds` for a lock. Closing it writes nothing, because a forked child would write into its parent's database."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False, timeout=seconds
    )
    connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)  # noqa: FBT003
    return connection


def rename_damaged(path: Path, why: Exception) -> None:
    """Rename a damaged database so that no recorder opens it again, and log it."""
    damaged = path.with_name(path.name + DAMAGED)
    with suppress(OSError):
        path.rename(damaged)
        for ending in SQLITE_SUFFIXES:
            with suppress(FileNotFoundError):
                path.with_name(path.name + ending).rename(damaged.with_name(damaged.name + ending))
    log.error(
        "The spool %s is damaged (%s) and was renamed to %s. Undelivered recordings in it may be lost. "
        "Try to read them with `sqlite3 %s .recover`.",
        path,
        why,
        damaged.name,
        damaged,
    )


def remove(path: Path) -> None:
    """Remove a database; the main file last, so that an interruption leaves no other file behind."""
    for ending in (*SQLITE_SUFFIXES, ""):
        with suppress(OSError):
            path.with_name(path.name + ending).unlink(missing_ok=True)


def _code(why: sqlite3.Error) -> int:
    """The primary result code of SQLite."""
    return getattr(why, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
