"""Processes that outlived a killed `make up`, known by the folder that they work in (Linux only; elsewhere none are found)."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path


def processes_in(folder: Path) -> Iterator[int]:
    """Every process whose working folder this is. Names and numbers lie: titles are rewritten, numbers are used again."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder:
                yield int(process.name)


def kill_leftovers(folder: Path) -> None:
    """End what our own Python still runs in a folder that only our children work in."""
    ours = Path(sys.executable).resolve()
    for pid in processes_in(folder):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/exe").readlink() == ours:
                os.kill(pid, signal.SIGKILL)
