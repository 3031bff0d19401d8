"""How much space is free on a disk, and whether that is enough."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LEAST_FREE_MB: Final = 200
"""What `MIN_FREE_DISK_MB` is unless it is set."""
_MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskSpace:
    """The free space of a disk and how much of it is needed, in megabytes."""

    free: int
    needed: int

    @property
    def is_enough(self) -> bool:
        return self.free >= self.needed


def disk_space(folder: Path | str, *, least_mb: int) -> DiskSpace:
    """Return the space on the disk of a folder. A tenth of a small disk is enough. Raises `OSError` if the folder does not exist."""
    disk = shutil.disk_usage(folder)
    return DiskSpace(free=disk.free // _MEGABYTE, needed=min(least_mb, disk.total // _MEGABYTE // 10))
