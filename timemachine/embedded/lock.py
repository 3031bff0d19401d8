"""Allow one `make up` per data folder. The kernel releases the lock when the process ends, even after kill -9."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from timemachine.core.pure.errors import Conflict


@contextmanager
def only_one(home: Path, url: str) -> Iterator[None]:
    """Hold `HOME/lock`, which contains the process id and URL. Raises `Conflict` if another process holds it."""
    descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as why:
            raise _already_running(os.read(descriptor, 1000).decode()) from why
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()} {url}\n".encode())
        yield
    finally:
        os.close(descriptor)


def _already_running(note: str) -> Conflict:
    pid, _, url = note.strip().partition(" ")
    return Conflict(
        f"Time Machine is already running: process {pid or 'unknown'}, {url or 'still starting'}. "
        "`make link` prints a new sign-in link; Ctrl-C where it runs stops it.",
        code="already_running",
    )
