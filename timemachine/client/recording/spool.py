"""The spool: what was recorded and is not delivered yet, one append-only file for each session of a process.

The first line says which session it is, and for which server and key (never the key itself); each further line is an action as it is
sent, or `!end` with when it ended. A line stands in the file before it is sent, so a process that is killed loses none of them; with `fsync` they
survive a machine that loses its power as well. Once everything is delivered the file is cut back to its first line, and removed
when the session is closed. Whoever has a file holds its lock, so a file without one is of a process that is gone, and the next one
takes it over; it gets its name once it is locked and has its first line. A last line that was cut in half by a crash is left out; it
had not been taken yet.
"""

import contextlib
import json
import logging
import os
import re
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, Self

from timemachine.client.recording.spool_file import (
    BEGINNING,
    CHUNK,
    ENDING,
    File,
    Memory,
    alone,
    begun,
    header_of,
    is_cut,
    is_still,
    locked,
    opened,
    read_all,
    whole_lines,
    write_all,
)

log = logging.getLogger(__name__)

REFUSED: Final = ".refused"
WHY: Final = ".why"
MOST_IN_MEMORY: Final = 64 * 1024 * 1024
"""Bytes that are kept where no file can be written at all."""
_NAMED: Final = re.compile(r"([0-9a-f]{16})-([0-9a-f]{8})")
_told: set[Path] = set()


def spool_folder(chosen: str | os.PathLike[str] | None = None) -> Path:
    """Where spools lie: what is given, else `TIMEMACHINE_SPOOL`, else `timemachine/spool` in the user's state folder."""
    named = os.fspath(chosen or os.environ.get("TIMEMACHINE_SPOOL", "").strip())
    if named:
        return Path(named).expanduser().absolute()
    state = os.environ.get("XDG_STATE_HOME", "").strip()
    return (Path(state) if state else Path.home() / ".local" / "state") / "timemachine" / "spool"


class Spool:
    """One file. Places in it are counted from the first line after its header, over all that was ever in it."""

    def __init__(self, file: File, path: Path | None, header: dict[str, Any], begin: int) -> None:
        self.header = header
        self.path = path
        self.end = 0
        self.settled = 0
        self.is_closed = False
        self._held: deque[tuple[bytes, str]] = deque()
        self._held_bytes = 0
        self._asides = threading.Lock()
        self._file = file
        self._begin = begin
        self._cut = 0
        self._is_limited = path is None
        self._lock = threading.Lock()

    @classmethod
    def begun(cls, folder: Path, header: dict[str, Any]) -> Self:
        """A new file in the folder; in memory where no file can be written, which is said once."""
        try:
            return cls.in_file(folder, header)
        except OSError as why:
            if folder not in _told:
                _told.add(folder)
                log.warning(
                    "No spool can be written in %s (%s): what is recorded waits in memory.", folder, why
                )
            return cls.in_memory(header)

    @classmethod
    def in_file(cls, folder: Path, header: dict[str, Any]) -> Self:
        """A new file in the folder. Raises `OSError`."""
        line = json.dumps(header).encode() + b"\n"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file, path = begun(folder, line)
        return cls(file, path, header, len(line))

    @classmethod
    def in_memory(cls, header: dict[str, Any]) -> Self:
        """A spool of at most `MOST_IN_MEMORY`, where no file takes any more."""
        return cls(Memory(), None, header, 0)

    @classmethod
    def taken_over(cls, path: Path) -> "Self | None":
        """The file of a process that is gone; None where it is in use, or not one of ours, or has no whole first line (it is removed then)."""
        try:
            file = opened(path, 0)
        except OSError:
            return None
        if not locked(file) or not is_still(file, path):
            file.close()
            return None
        header, begin = header_of(file)
        if header is None:
            if not begin:
                path.unlink(missing_ok=True)
            file.close()
            return None
        spool = cls(file, path, header, begin)
        spool.end = whole_lines(file, begin) - begin
        file.truncate(begin + spool.end)
        return spool

    @property
    def is_held(self) -> bool:
        """Whether the file stays as it is: something in it was refused, and found no place beside it."""
        return self._held_bytes > 0

    @property
    def has_rest(self) -> bool:
        """Whether its file has anything that is to be sent, or set aside, before its session may end; it is tried to set it aside."""
        if self.is_closed:
            return self.path is not None and (self.settled < self.end or self.is_held) and self.path.exists()
        return self.settled < self.end or not self.put_aside()

    @property
    def waits(self) -> bool:
        """Whether something in it has not arrived: of a file that was let go, for as long as it is there."""
        return self.settled < self.end and (self.path is None or self.path.exists())

    def append(self, lines: Sequence[bytes], *, sync: bool = False, anyway: bool = False) -> int:
        """Add lines; the place after them. Raises `OSError`, and has taken none of them then; in memory they find a place `anyway`."""
        data = b"".join(line + b"\n" for line in lines)
        with self._lock:
            if self._is_limited and self.end - self._cut + len(data) > MOST_IN_MEMORY:
                self._cut_settled()
            end = self._begin + self.end - self._cut
            if self._is_limited and not anyway and end + len(data) > MOST_IN_MEMORY:
                raise OSError(f"{MOST_IN_MEMORY:,} bytes wait in memory, and no file can be written")
            try:
                self._file.seek(end)
                write_all(self._file, data)
                if sync and self.path is not None:
                    os.fsync(self._file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    self._file.truncate(end)
                raise
            self.end += len(data)
            return self.end

    def waiting(self, most_bytes: int) -> list[bytes]:
        """The next lines that are not settled, of so many bytes in all, and at least one where there is one."""
        with self._lock:
            if self.is_closed:
                return []
            at, left = self._begin + self.settled - self._cut, self.end - self.settled
            size = min(left, most_bytes)
            while size:
                self._file.seek(at)
                data = read_all(self._file, size)
                last = data.rfind(b"\n")
                if last >= 0 or size == left:
                    return data[:last].split(b"\n") if last > 0 else []
                size = min(left, size + CHUNK)  # one line, and a long one
        return []

    def settle(self, size: int) -> None:
        """So many bytes more, line ends included, are delivered or set aside."""
        with self._lock:
            self.settled += size
        self._cut_back()

    def _cut_back(self) -> None:
        """Have only its first line left in the file, if nothing else is of use."""
        with self._lock:
            if self.settled == self.end and not (self.is_closed or self.is_held):
                with contextlib.suppress(OSError):  # it stays longer than it has to be
                    self._file.truncate(self._begin)
                    self._cut = self.end

    def _cut_settled(self) -> None:
        """Free what of the memory has arrived."""
        if self.settled > self._cut and not self.is_closed:
            self._file.seek(self.settled - self._cut)
            rest = self._file.read()
            self._file.seek(0)
            self._file.truncate()
            write_all(self._file, rest)
            self._cut = self.settled

    def set_aside(self, line: bytes, why: str) -> bool:
        """Keep a line that can never be delivered, with the reason, beside the spool; where that finds no place, the spool's own file stays.

        Whether it is kept: what waits in memory is not.
        """
        if self.path is None:
            return False
        with self._asides:
            try:
                self._keep_beside(self.path, line, why)
            except OSError:
                if self.is_closed:
                    return False
                self._held_bytes += len(line)
                if self._held_bytes <= MOST_IN_MEMORY:  # of more only the file knows, and the next process
                    self._held.append((line, why))
        return True

    def note(self, why: str | None) -> None:
        """Have it said beside the file why it waits, or no more; where that cannot be written only the log has it."""
        if self.path is None:
            return
        with contextlib.suppress(OSError):
            if why is None:
                self.path.with_suffix(WHY).unlink(missing_ok=True)
            else:
                self.path.with_suffix(WHY).write_text(why)

    def put_aside(self) -> bool:
        """Set aside what found no place beside the file before, so that it need not stay; whether nothing is left of that."""
        with self._asides:
            try:
                while self.path is not None and self._held:
                    self._keep_beside(self.path, *self._held[0])
                    self._held_bytes -= len(self._held.popleft()[0])
            except OSError:
                return False
        self._cut_back()
        return not self.is_held

    def _keep_beside(self, path: Path, line: bytes, why: str) -> None:
        kept = json.dumps({"why": why, **self.header}).encode()[:-1]
        with alone(path.with_suffix(REFUSED), os.O_CREAT) as file:
            end = file.seek(0, os.SEEK_END)
            begin = b"\n" if is_cut(file, end) else b""
            try:
                write_all(file, begin + kept + b', "line": ' + line + b"}\n")
                os.fsync(file.fileno())  # before the spool forgets it
            except OSError:
                file.truncate(end)
                if not end:
                    path.with_suffix(REFUSED).unlink()
                raise

    def remove(self, *, only_settled: bool = False) -> bool:
        """Let go of the file, and remove it if nothing waits in it; or let go of it `only_settled`. Whether it is let go."""
        if not self.put_aside() and only_settled:
            return False
        with self._lock:
            if only_settled and self.settled < self.end:
                return False
            self.is_closed = True
            with contextlib.suppress(OSError):
                if self.path is not None and self.settled == self.end and not self.is_held:
                    self.note(None)
                    self.path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self._file.close()
            return True

    def forget(self) -> None:
        """Let go of the file in a child process: it is its parent's, and stays locked by it."""
        self.is_closed = True
        with contextlib.suppress(OSError):
            self._file.close()


def spools_in(folder: Path) -> Iterator[Path]:
    """The files in a folder, the oldest first."""
    yield from files_in(folder, {ENDING, BEGINNING})


def files_in(folder: Path, endings: AbstractSet[str]) -> Iterator[Path]:
    """The files of these endings in a folder, in the order in which they were begun."""
    found = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                if path.suffix in endings:
                    found.append((_begun_at(path), path))
    yield from (path for _, path in sorted(found))


def _begun_at(path: Path) -> int:
    """Nanoseconds since 1970, as its name says; of a name that says nothing, when it was last written."""
    named = _NAMED.fullmatch(path.stem)
    return int(named[1], 16) if named else path.stat().st_mtime_ns
