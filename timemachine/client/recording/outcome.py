"""What becomes of what a session records: the key that it goes by, and what of it does not arrive."""

import threading
from typing import TYPE_CHECKING

from timemachine.core.pure.formatting import counted

if TYPE_CHECKING:
    from timemachine.client.recording.spool import Spool


class Shortfall:
    """Actions that the server refused for good (`refused`), and those that found no place anywhere (`lost`); `why` is the latest reason.

    What is missing of a part is missing of the `whole` as well.
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
        """So many more."""
        with self._lock:
            self.refused += refused
            self.lost += lost
            self.why = why
        if self._whole is not None:
            self._whole.add(refused=refused, lost=lost, why=why)

    def __str__(self) -> str:
        parts = []
        if self.refused:
            were = "was refused and is" if self.refused == 1 else "were refused and are"
            parts.append(
                f"{counted(self.refused, 'action')} {were} set aside (`timemachine spool list` shows what)"
            )
        if self.lost:
            parts.append(f"{counted(self.lost, 'action')} {'is' if self.lost == 1 else 'are'} lost")
        return f"{', and '.join(parts)}: {self.why}"


class Course:
    """One session's, over all its spools. It is `begun` once the server has it; one that is `strict` goes by no other key than its own."""

    def __init__(
        self, key: str, *, strict: bool = False, begun: bool = False, whole: Shortfall | None = None
    ) -> None:
        self.key = key
        self.strict = strict
        self.begun = begun
        self.spools: list[Spool] = []
        self.shortfall = Shortfall(whole)
