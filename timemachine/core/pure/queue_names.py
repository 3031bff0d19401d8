"""The queues in which jobs wait. Each has places of its own in a worker: see `timemachine.jobs.places`."""

from typing import Final

REPLAYS: Final = "replays"
INDEXING: Final = "indexing"
DEFAULT: Final = "default"
QUEUES: Final = (REPLAYS, DEFAULT, INDEXING)
