"""The alignments that were asked for last, in this process's memory: the pages of one comparison do not each make it anew."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Final

MOST_ENTRIES: Final = 4
# Steps of both runs together; a larger alignment is made anew each time, so that four of them fit into some 50 MB.
MOST_STEPS: Final = 12_000


class Kept[Value]:
    """A few values under keys that change whenever what they were made of does."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        """The value under the key, None where it is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: Hashable, value: Value, steps: int) -> None:
        """Keep a value that was made of so many steps, unless they are too many; the one unused for longest goes."""
        if steps > MOST_STEPS:
            return
        with self._lock:
            self._values[key] = value
            while len(self._values) > MOST_ENTRIES:
                self._values.popitem(last=False)
