"""The log files of the child processes."""

from pathlib import Path
from typing import IO

_ROTATE_AT = 5_000_000  # bytes
_TAIL = 16_384  # bytes


def open_log(path: Path) -> IO[bytes]:
    """Open the log for appending; a large one is first renamed to `….1` and replaces the older one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.stat().st_size > _ROTATE_AT:
        path.replace(path.with_name(path.name + ".1"))
    return path.open("ab")


def last_words(path: Path) -> str:
    """The error of the last traceback in the log, else its last line."""
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - _TAIL))
        lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    tracebacks = [place for place, line in enumerate(lines) if line.startswith("Traceback ")]
    after = lines[tracebacks[-1] + 1 :] if tracebacks else lines[-1:]
    return next((line.strip() for line in after if not line.startswith(" ")), "its log is empty")
