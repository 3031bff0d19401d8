"""The alignments that were asked for last, in this process's memory: the pages of one comparison do not each make it anew."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Final

# Steps of all that is kept together, some 0.8 KB each; the largest alignment that is made, 20,000 by 20,000, is one that fits.
MOST_STEPS: Final = 48_000
# What an alignment counts at least, so that of small ones a bounded number is kept.
_LEAST: Final = 250


class Kept[Value]:
    """A few values under keys that change whenever what they were made of does."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        """The value under the key, None where it is not kept."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def keep(self, key: Hashable, value: Value, steps: int) -> None:
        """Keep a value that was made of so many steps; those unused for longest go until all that is kept is small enough."""
        with self._lock:
            self._values[key] = value, max(steps, _LEAST)
            self._values.move_to_end(key)
            while sum(each for _, each in self._values.values()) > MOST_STEPS:
                self._values.popitem(last=False)
