"""Something done again and again beside other work, for as long as that takes."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def heartbeat(beat: Callable[[], object], *, every: float, at_end: Callable[[], object]) -> Generator[None]:
    """Call `beat` each so many seconds while the block runs, in a thread of its own that calls `at_end` before it ends."""
    done = threading.Event()

    def go_on() -> None:
        try:
            while not done.wait(every):
                beat()
        finally:
            at_end()

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
