"""The files that our children write to."""

from pathlib import Path
from typing import IO

_TURN_AT = 5_000_000  # bytes
_TAIL = 16_384  # bytes


def open_log(path: Path) -> IO[bytes]:
    """The log, for appending; one that has grown large becomes `….1` first, over the older one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.stat().st_size > _TURN_AT:
        path.replace(path.with_name(path.name + ".1"))
    return path.open("ab")


def last_words(path: Path) -> str:
    """Why it ended, in one line: of the last traceback the error, else the last line that is not empty."""
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - _TAIL))
        lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    marks = [place for place, line in enumerate(lines) if line.startswith("Traceback ")]
    after = lines[marks[-1] + 1 :] if marks else lines[-1:]
    return next((line.strip() for line in after if not line.startswith(" ")), "it wrote nothing")
