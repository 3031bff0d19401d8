"""How many actions of a session or a recorder did not reach the server."""

import threading

from timemachine.core.pure.numbers import counted


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
