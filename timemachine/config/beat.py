"""Beat in a thread of the worker, for `timemachine up`. Celery's own `-B` forks a process, which takes another 70 MB."""

from typing import Any

from celery import bootsteps
from celery.beat import EmbeddedService


class BeatThread(bootsteps.StartStopStep):
    """Starts and stops beat with the worker, if it was started with `--beat-thread`."""

    def __init__(self, worker: Any, *, beat_thread: bool = False, **options: Any) -> None:
        super().__init__(worker, **options)
        self.enabled = beat_thread

    def create(self, worker: Any) -> Any:
        """Return the thread."""
        return EmbeddedService(worker.app, thread=True, schedule_filename=worker.schedule_filename)
