"""What of one session waits: its lines in the spool, and behind them those that wait in memory because the spool takes no more."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from timemachine.client.recording.lines import is_end
from timemachine.client.recording.spool import Row, Spool, Stored

log = logging.getLogger(__name__)

MOST_IN_MEMORY: Final = 64 * 1024 * 1024
"""Bytes of one session that wait in memory."""
_warned: set[Path] = set()


class Recording:
    """The lines of one session, in their order. Each has a place, counted from 1; those up to `settled` were delivered or refused, `end` is the last.

    `header` says which session it is, and for which server and key (never the key itself). `spool` gives the database to write into.
    """

    def __init__(self, header: dict[str, Any], folder: Path, spool: Callable[[], Spool]) -> None:
        self.header = header
        self.folder = folder
        self.open_spool = spool
        self.end = 0
        self.settled = 0
        self._spool: Spool | None = None
        self._id: int | None = None
        self._stored = 0  # the place up to which lines are in the spool; those behind it are in memory
        self._memory: deque[Row] = deque()
        self._memory_bytes = 0
        self._refusals: dict[int, str] = {}  # of lines in the spool, which does not say so yet
        self._has_refused = False
        self._lock = threading.Lock()

    @classmethod
    def of(cls, spool: Spool, stored: Stored) -> Self:
        """A recording of a process that has ended."""
        recording = cls(stored.header, spool.path.parent, lambda: spool)
        recording.settled, recording.end = stored.settled, stored.last
        recording._spool, recording._id, recording._stored = spool, stored.id, stored.last
        recording._has_refused = stored.refused > 0
        return recording

    @property
    def has_waiting(self) -> bool:
        """Whether lines wait."""
        return self.settled < self.end

    def append(self, lines: Sequence[bytes], *, anyway: bool = False) -> None:
        """Add lines to the spool; to memory while it takes none, and until what is in memory is delivered.

        Raises `OSError`, and has taken none of them, where as much waits in memory as may; they are taken `anyway` where that is said.
        """
        with self._lock:
            rows = [(self.end + number, line) for number, line in enumerate(lines, 1)]
            if self._memory or not self._is_stored(rows):
                size = sum(map(len, lines))
                if not anyway and self._memory_bytes + size > MOST_IN_MEMORY:
                    raise OSError(f"{MOST_IN_MEMORY:,} bytes wait in memory, and no spool can be written")
                self._memory.extend(rows)
                self._memory_bytes += size
            self.end += len(rows)

    def waiting(self, *, most: int, most_bytes: int) -> list[Row]:
        """The next lines: at most so many, of at most so many bytes in all, but one where there is one. Raises `OSError`."""
        with self._lock:
            if self._spool is not None and self._id is not None and self.settled < self._stored:
                rows = self._spool.waiting(self._id, self.settled, most=most, most_bytes=most_bytes)
                if rows:
                    return rows
                self.settled = self._stored  # what is left there was refused
            rows = []
            for row in self._memory:
                most_bytes -= len(row[1])
                if rows and (most_bytes < 0 or len(rows) == most):
                    break
                rows.append(row)
            return rows

    def settle(self, place: int) -> None:
        """Everything up to a place was delivered or refused."""
        with self._lock:
            self.settled = place
            while self._memory and self._memory[0][0] <= place:
                self._memory_bytes -= len(self._memory.popleft()[1])
            self._write_back()

    def refuse(self, row: Row, why: str) -> bool:
        """Keep a line that can never be delivered, with the reason. Whether it is kept: one in memory is lost where the spool takes nothing."""
        place, line = row
        with self._lock:
            if not self._memory or place < self._memory[0][0]:
                self._refusals[place] = why
                self._has_refused = True
                return True
            return self._is_stored([(place, line)], refused=why)

    def add_refused(self, line: bytes, why: str) -> bool:
        """Keep a line that is not even sent, with the reason; whether it is kept. No other line may wait."""
        with self._lock:
            self.end = self.settled = self.end + 1
            return self._is_stored([(self.end, line)], refused=why)

    def note(self, why: str | None) -> None:
        """Keep in the spool why it waits, or that there is no reason any more; where that cannot be written only the log has it."""
        with self._lock, suppress(OSError):
            if self._spool is not None and self._id is not None:
                self._spool.note(self._id, why)

    def save_refusals(self) -> bool:
        """Write to the spool what was refused and is not marked there; whether that is so of all."""
        with self._lock:
            if self._refusals:
                self._write_back()
            return not self._refusals

    def give_up(self) -> int:
        """Go on without what is in the spool, which cannot be read; how many lines that are."""
        with self._lock:
            lost = self._stored - self.settled
            self.settled = self._stored
            self._detach()
            return lost

    def let_go(self) -> bool:
        """Let go of the spool unless something waits or is to be marked; whether it did."""
        with self._lock:
            if self._refusals:
                self._write_back()
            if self.has_waiting or self._refusals:
                return False
            if self._spool is not None and self._id is not None:
                with suppress(OSError):
                    self._spool.forget(self._id)
            self._detach()
            return True

    def release(self) -> tuple[int, tuple[Path, int] | None]:
        """Let go of the spool with all that waits, which is for the next process then.

        How many actions are lost because they were in memory and the spool does not take them even now, and where the others wait.
        """
        with self._lock:
            lost = 0
            rows = list(self._memory)
            if rows and not self._is_stored(rows):
                lost = sum(not is_end(line) for _, line in rows)
                self.end = self._stored
            self._write_back()
            waits = self.settled < self.end and self._spool is not None and self._id is not None
            rest = (self._spool.path, self._id) if waits and self._spool and self._id else None
            self.settled = self.end
            self._memory.clear()
            self._memory_bytes = 0
            self._detach()
            return lost, rest

    def _is_stored(self, rows: Sequence[Row], refused: str | None = None) -> bool:
        """Write lines into the spool; whether it takes them."""
        try:
            if self._spool is None or self.settled >= self._stored:  # none of its lines waits in another one
                spool = self.open_spool()
                self._id = self._id if spool is self._spool else None
                self._spool = spool
            self._id = self._spool.add(self._id, self.header, rows, refused)
        except OSError as why:
            if self.folder not in _warned:
                _warned.add(self.folder)
                log.warning(
                    "No spool can be written in %s (%s): what is recorded waits in memory.", self.folder, why
                )
            return False
        if refused is None:
            self._stored = rows[-1][0]
        else:
            self._has_refused = True
        return True

    def _write_back(self) -> None:
        """Have the spool forget what was delivered and mark what was refused; where it takes no more that is tried again at the next."""
        if self._spool is None or self._id is None:
            return
        with suppress(OSError):
            self._spool.settle(self._id, self.settled, self._refusals)
            self._refusals.clear()
        if self.settled >= self._stored and not self._has_refused:
            self._spool.kept.discard(self._id)

    def _detach(self) -> None:
        self._spool = self._id = None
        self._refusals.clear()
        self._has_refused = False
