"""How many actions of a session, or of a whole recorder, do not reach the server."""

import threading

from timemachine.core.pure.numbers import counted


class Shortfall:
    """Actions that the server refused for good (`refused`), and those that could be kept nowhere (`lost`); `why` is the latest reason.

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
        """Count so many more."""
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
