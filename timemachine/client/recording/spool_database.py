"""The file of a spool, as SQLite opens it: made, locked for one process, set aside where it is damaged, removed."""

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
BESIDE: Final = ("-wal", "-shm")
"""What SQLite appends to the name of a database for the files that it keeps beside it."""
VERSION: Final = 1
_SCHEMA: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE recordings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    header TEXT NOT NULL,
    why TEXT  -- it waits, where a reason is known
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
_LARGEST_WAL: Final = 16 * 1024 * 1024  # bytes that stay allocated to it

_lock = threading.Lock()


class Damaged(OSError):
    """A spool's file is no longer a database that SQLite can read."""


@contextmanager
def in_sqlite() -> Iterator[None]:
    """Use SQLite while no other thread of the recorders does, so that none is inside it when this process forks. What it raises is `OSError`."""
    with _lock:
        try:
            yield
        except sqlite3.Error as why:
            kind = Damaged if _code(why) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} else OSError
            raise kind(str(why)) from why


def lock() -> threading.Lock:
    """The lock to hold while this process forks."""
    return _lock


def forked() -> None:
    """Begin with a new lock in a child process: whoever held the old one is not there."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()


def created(path: Path, *, sync: bool) -> sqlite3.Connection:
    """Make an empty file a database. With `sync` what is committed survives a machine that loses its power."""
    connection = connected(path)
    try:
        connection.execute(f"PRAGMA synchronous = {'FULL' if sync else 'OFF'}")
        connection.execute(
            "PRAGMA auto_vacuum = FULL"
        )  # what was delivered after a long outage takes no room
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
    """A connection that nobody else has beside it; None where somebody has one."""
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
    """A connection that waits so many seconds for a lock. Closing it writes nothing: a forked child would write into its parent's database."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False, timeout=seconds
    )
    connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)  # noqa: FBT003
    return connection


def set_aside(path: Path, why: Exception) -> None:
    """Give a damaged database another name, under which no recorder looks at it again, and log that."""
    aside = path.with_name(path.name + DAMAGED)
    with suppress(OSError):
        path.rename(aside)
        for ending in BESIDE:
            with suppress(FileNotFoundError):
                path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
    log.error(
        "The spool %s is damaged (%s), and is set aside as %s: what was recorded in it and had not arrived may be lost. "
        "`sqlite3 %s .recover` shows what can still be read.",
        path,
        why,
        aside.name,
        aside,
    )


def remove(path: Path) -> None:
    """Remove a database; the file itself last, so that no other stays where this is interrupted."""
    for ending in (*BESIDE, ""):
        with suppress(OSError):
            path.with_name(path.name + ending).unlink(missing_ok=True)


def _code(why: sqlite3.Error) -> int:
    """SQLite's primary result code."""
    return getattr(why, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
