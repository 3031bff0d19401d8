"""Convert between rows of a list and steps, from the number of rows per hundred steps.

Rows are assumed to be even within a hundred: positions inside one are approximate, its ends are exact.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The rows of a list for the steps of a session: `rows` has the number of rows for each `width` steps, from step 1."""

    rows: Sequence[int]
    width: int

    @cached_property
    def _until(self) -> list[int]:
        return [0, *accumulate(self.rows)]

    @property
    def total(self) -> int:
        return self._until[-1]

    def before(self, sequence: int) -> int:
        """Return the number of rows before that step."""
        whole, part = divmod(max(sequence, 1) - 1, self.width)
        if whole >= len(self.rows):
            return self.total
        return self._until[whole] + self.rows[whole] * part // self.width

    def step_at(self, row: int) -> int:
        """Return a step that has that many rows before it, or the first or last step."""
        if not self.total:
            return 1
        target = min(max(row, 0), self.total - 1)
        whole = bisect_right(self._until, target) - 1
        inside = target - self._until[whole]
        return whole * self.width + 1 + -(-inside * self.width // self.rows[whole])
