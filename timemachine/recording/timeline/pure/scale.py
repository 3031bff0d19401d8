"""How many rows of a list come before a step, and which step stands at a row: by how many rows every hundred steps have. Pure.

Within a hundred the rows are taken to lie evenly. So a place in the middle of one is near the truth, and the ends of every hundred are exact.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A list of rows against the steps of its session: `rows` has how many of each `width` steps are in the list, from step 1 on."""

    rows: Sequence[int]
    width: int

    @cached_property
    def _until(self) -> list[int]:
        return [0, *accumulate(self.rows)]

    @property
    def total(self) -> int:
        """How many rows there are."""
        return self._until[-1]

    def before(self, sequence: int) -> int:
        """How many rows come before that step."""
        whole, part = divmod(max(sequence, 1) - 1, self.width)
        if whole >= len(self.rows):
            return self.total
        return self._until[whole] + self.rows[whole] * part // self.width

    def step_at(self, row: int) -> int:
        """A step before which so many rows come; the first or last where there are not so many."""
        if not self.total:
            return 1
        wanted = min(max(row, 0), self.total - 1)
        whole = bisect_right(self._until, wanted) - 1
        inside = wanted - self._until[whole]
        return whole * self.width + 1 + -(-inside * self.width // self.rows[whole])
