"""One file of a spool as the system has it: begun under its own name, locked while somebody has it, read up to its last whole line."""

import fcntl
import io
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

ENDING: Final = ".spool"
BEGINNING: Final = ".begun"
CHUNK: Final = 4 * 1024 * 1024
_LONGEST_HEADER: Final = 16 * 1024 * 1024


class Memory(io.BytesIO):
    """Where no file can be written."""

    def fileno(self) -> int:
        raise OSError("no file can be written")


type File = io.FileIO | Memory


def opened(path: Path, flags: int) -> io.FileIO:
    """The file to read and write, its owner's alone where it is made. Raises `OSError`."""

    def opener(name: str, _: int) -> int:
        return os.open(name, os.O_RDWR | flags | getattr(os, "O_CLOEXEC", 0), 0o600)

    return io.FileIO(os.fspath(path), "r+", opener=opener)


def begun(folder: Path, line: bytes) -> tuple[io.FileIO, Path]:
    """A new file with its first line, and its name. One that somebody looks at before it is locked is theirs to remove; another is begun."""
    while True:
        beginning = folder / f"{time.time_ns():016x}-{secrets.token_hex(4)}{BEGINNING}"
        file = opened(beginning, os.O_CREAT | os.O_EXCL)
        if not _is_held(file) and is_still(file, beginning):
            try:
                write_all(file, line)
                return file, beginning.rename(beginning.with_suffix(ENDING))
            except OSError:
                beginning.unlink(missing_ok=True)
                file.close()
                raise
        file.close()
        beginning.unlink(missing_ok=True)


def _is_held(file: File) -> bool:
    """Lock it; whether somebody else has. Where files cannot be locked nobody has, and nobody takes them over either."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def locked(file: File) -> bool:
    """Lock it; whether that went."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_still(file: File, path: Path) -> bool:
    """Whether the name is still this file's: its owner may have removed it between opening and locking."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


@contextmanager
def alone(path: Path, flags: int = 0) -> Iterator[io.FileIO]:
    """The file to read and write, whose lock nobody else has meanwhile; who has it is waited for. Raises `OSError`."""
    while True:
        with opened(path, flags) as file:
            with suppress(OSError):  # where files cannot be locked
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
            try:
                if is_still(file, path):
                    yield file
                    return
            finally:
                with suppress(OSError):  # a child that was forked meanwhile has the file, too
                    fcntl.flock(file.fileno(), fcntl.LOCK_UN)


def header_of(file: File) -> tuple[dict[str, Any] | None, int]:
    """What the first line says, None where it is not one of ours, and where it ends, 0 where it was cut off."""
    file.seek(0)
    begin = b""
    while b"\n" not in begin and len(begin) < _LONGEST_HEADER:
        part = file.read(CHUNK)
        if not part:
            return None, 0
        begin += part
    line = begin.partition(b"\n")[0]
    try:
        header = json.loads(line)
    except ValueError:
        return None, len(line) + 1
    session = header.get("session") if isinstance(header, dict) else None
    is_ours = isinstance(session, dict) and isinstance(session.get("key"), str)
    return (header if is_ours else None), len(line) + 1


def whole_lines(file: File, begin: int) -> int:
    """Where the last whole line ends."""
    end = file.seek(0, os.SEEK_END)
    while end > begin:
        size = min(CHUNK, end - begin)
        file.seek(end - size)
        last = read_all(file, size).rfind(b"\n")
        if last >= 0:
            return end - size + last + 1
        end -= size
    return begin


def is_cut(file: io.FileIO, end: int) -> bool:
    """Whether its last line has no end: a crash came while it was written."""
    return bool(end) and os.pread(file.fileno(), 1, end - 1) != b"\n"


def write_all(file: File, data: bytes) -> None:
    """Write all of it where the file stands. Raises `OSError`."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) or 0 :]


def read_all(file: File, size: int) -> bytes:
    """So many bytes from where the file stands, fewer where it ends before."""
    parts = []
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
