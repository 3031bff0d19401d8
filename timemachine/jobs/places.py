"""How many places of a worker the jobs of each queue may take.

A place is a thread of a worker that runs one job at a time. Whatever waits, each queue finds a place: the others cannot
take all of them.
"""

from collections.abc import Collection
from typing import Final

from timemachine.core.pure.queue_names import REPLAYS

FEWEST_PLACES: Final = 3
"""A worker with fewer places cannot keep one free for each queue."""


def most_places(queues: Collection[str], places: int) -> dict[str, int]:
    """Return how many of its places a worker gives to each of the queues that it serves.

    Every other queue gets an equal share. Replays get the rest, and always leave one place free.
    """
    if len(queues) == 1:
        return dict.fromkeys(queues, places)
    share = max(places // max(len(queues), 1), 1)
    rest = max(places - share * (len(queues) - 2) - 1, 1)
    return {queue: rest if queue == REPLAYS else share for queue in queues}
