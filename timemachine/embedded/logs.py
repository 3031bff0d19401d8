"""The files that our children write to."""

from pathlib import Path
from typing import IO

_TURN_AT = 5_000_000  # bytes


def open_log(path: Path) -> IO[bytes]:
    """The log, for appending; one that has grown large becomes `….1` first, over the older one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.stat().st_size > _TURN_AT:
        path.replace(path.with_name(path.name + ".1"))
    return path.open("ab")


def last_words(path: Path) -> str:
    """The last line that is not empty: of a traceback, what went wrong."""
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - 4096))
        lines = log.read().decode(errors="replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "it wrote nothing")
