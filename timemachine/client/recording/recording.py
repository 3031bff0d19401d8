"""The undelivered lines of one session: in the spool, and after them in memory if the spool cannot be written.

Also how many actions of a session or a recorder did not reach the server.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from timemachine.client.recording.lines import is_end
from timemachine.client.recording.spool import Row, Spool, Stored
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted

log = logging.getLogger(__name__)

MOST_IN_MEMORY: Final = 64 * 1024 * 1024
"""Maximum bytes of one session in memory."""
_warned: set[Path] = set()


class Recording:
    """The lines of one session in order. Each has a place from 1; those up to `settled` were delivered or refused, `end` is the last.

    `header` names the session, the server and the public part of the key. `spool` returns the database to write into.
    """

    def __init__(self, header: JsonObject, folder: Path, spool: Callable[[], Spool]) -> None:
        self.header = header
        self.folder = folder
        self.end = 0
        self.settled = 0
        self._open_spool = spool
        self._spool: Spool | None = None
        self._id = 0
        self._stored = 0  # lines up to this place are in the spool, later ones in memory
        self._deleted = 0  # the spool is updated up to this place
        self._memory: deque[Row] = deque()
        self._memory_bytes = 0
        self._refusals: dict[int, str] = {}  # of lines in the spool, not written there yet
        self._why: str | None = None
        self._lock = threading.Lock()

    @classmethod
    def of(cls, spool: Spool, stored: Stored) -> Self:
        """The recording of an ended process."""
        recording = cls(stored.header, spool.path.parent, lambda: spool)
        recording._spool, recording._id = spool, stored.id
        recording.settled = recording._deleted = stored.first - 1
        recording.end = recording._stored = stored.last
        return recording

    @property
    def has_waiting(self) -> bool:
        """Whether lines wait."""
        return self.settled < self.end

    def append(self, lines: Sequence[bytes], *, anyway: bool = False) -> None:
        """Add lines to the spool, or to memory while the spool cannot be written or memory still has lines.

        Raises `OSError` and adds nothing if the memory limit is reached, unless `anyway`.
        """
        with self._lock:
            rows = [(self.end + number, line) for number, line in enumerate(lines, 1)]
            if not self._memory and self._is_stored(rows):
                self._stored = rows[-1][0]
            else:
                size = sum(map(len, lines))
                if not anyway and self._memory_bytes + size > MOST_IN_MEMORY:
                    raise OSError(f"{MOST_IN_MEMORY:,} bytes wait in memory, and the spool cannot be written")
                self._memory.extend(rows)
                self._memory_bytes += size
            self.end = rows[-1][0]

    def waiting(self, *, most: int, most_bytes: int) -> list[Row]:
        """The next lines: at most `most` lines and `most_bytes` bytes, but at least one if there is one. Raises `OSError`."""
        with self._lock:
            if self._spool is not None and self.settled < self._stored:
                rows = self._spool.lines(self._id, after=self.settled, most=most, most_bytes=most_bytes)
                if rows:
                    return rows
                self.settled = self._stored  # the rest there was refused
            rows = []
            for row in self._memory:
                most_bytes -= len(row[1])
                if rows and (most_bytes < 0 or len(rows) == most):
                    break
                rows.append(row)
            return rows

    def settle(self, place: int) -> None:
        """Note that everything up to a place was delivered or refused."""
        with self._lock:
            self.settled = place
            while self._memory and self._memory[0][0] <= place:
                self._memory_bytes -= len(self._memory.popleft()[1])
            self._write_back()

    def refuse(self, row: Row, why: str) -> bool:
        """Store a refused line with the reason; False if it is in memory and the spool cannot be written."""
        with self._lock:
            if self._memory and row[0] >= self._memory[0][0]:
                return self._is_stored([row], refused=why)
            self._refusals[row[0]] = why
            return True

    def add_refused(self, line: bytes, why: str) -> bool:
        """Store a refused line that was never sent, with the reason; False if the spool cannot be written or memory has lines."""
        with self._lock:
            if self._memory or not self._is_stored([(self.end + 1, line)], refused=why):
                return False
            if not self.has_waiting:
                self.settled = self._deleted = self.end + 1
            self.end = self._stored = self.end + 1
            return True

    def note(self, why: str | None) -> None:
        """Store in the spool why the recording waits, or None; if that fails, only the log has it."""
        with self._lock:
            self._why = why
            self._write_back()

    def save_refusals(self) -> bool:
        """Mark refused lines in the spool; returns whether all are marked."""
        with self._lock:
            if self._refusals:
                self._write_back()
            return not self._refusals

    def give_up(self) -> int:
        """Skip the lines in an unreadable spool and return their number."""
        with self._lock:
            lost, self.settled = self._stored - self.settled, self._stored
            return lost

    def release(self) -> tuple[int, tuple[Path, int] | None]:
        """Write what is in memory and release the spool for the next process.

        Returns the number of actions that could not be written and are lost, and the spool and id where the others wait.
        """
        with self._lock:
            rows, self._memory, self._memory_bytes = list(self._memory), deque(), 0
            saved = not rows or self._is_stored(rows)
            if rows and saved:
                self._stored = rows[-1][0]
            self._write_back()
            rest = (self._spool.path, self._id) if self._spool and self.settled < self._stored else None
            self._stored = self._deleted = self.settled = self.end
            self._refusals.clear()
            return (0 if saved else sum(not is_end(line) for _, line in rows)), rest

    def _is_stored(self, rows: Sequence[Row], refused: str | None = None) -> bool:
        """Write lines into the spool; returns whether that succeeded."""
        try:
            spool = self._spool
            if spool is None or self.settled >= self._stored:  # no line waits in an earlier spool
                spool = self._open_spool()
            number = self._id if spool is self._spool else None
            self._id = spool.add(number, self.header, rows, refused)
            self._spool = spool
        except OSError as why:
            if self.folder not in _warned:
                _warned.add(self.folder)
                log.warning("Cannot write a spool in %s (%s). Recordings wait in memory.", self.folder, why)
            return False
        return True

    def _write_back(self) -> None:
        """Delete delivered lines from the spool and mark refused ones; if that fails, it is repeated next time."""
        if self._spool is None:
            return
        up_to = min(self.settled, self._stored)
        delivered = [place for place in range(self._deleted + 1, up_to + 1) if place not in self._refusals]
        if self._refusals:
            self._spool.kept.add((self._id, True))
        with suppress(OSError):
            self._spool.settle(self._id, delivered, self._refusals, why=self._why)
            self._deleted = max(self._deleted, up_to)
            self._refusals.clear()
        if self.settled >= self._stored:
            self._spool.kept.discard((self._id, False))


class Shortfall:
    """The number of actions that the server refused (`refused`) or that could not be stored (`lost`); `why` is the latest reason.

    They are also added to the `whole`.
    """

    def __init__(self, whole: "Shortfall | None" = None) -> None:
        self.refused = 0
        self.lost = 0
        self.why: str | None = None
        self._whole = whole
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self.refused or self.lost)

    def add(self, *, refused: int = 0, lost: int = 0, why: str) -> None:
        """Add to the counts."""
        with self._lock:
            self.refused += refused
            self.lost += lost
            self.why = why
        if self._whole is not None:
            self._whole.add(refused=refused, lost=lost, why=why)

    def __str__(self) -> str:
        parts = []
        if self.refused:
            parts.append(f"{counted(self.refused, 'action')} refused (see `timemachine spool list`)")
        if self.lost:
            parts.append(f"{counted(self.lost, 'action')} lost")
        return f"{' and '.join(parts)}: {self.why}"
