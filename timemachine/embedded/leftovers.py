"""Find and end processes that outlived a killed `make up`, by their working folder (Linux only)."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path


def processes_in(folder: Path) -> Iterator[int]:
    """Every process with this working folder. Titles can be rewritten and ids reused, so they are not used."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder:
                yield int(process.name)


def kill_leftovers(folder: Path) -> None:
    """Kill the processes of our own Python in a folder that only our children use."""
    ours = Path(sys.executable).resolve()
    for pid in processes_in(folder):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/exe").readlink() == ours:
                os.kill(pid, signal.SIGKILL)
